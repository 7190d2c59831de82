/* fabrics.c: the table of fabrics.
 *
 * Conversions, with 1 gf = 9.80665e-3 N (Kawabata's KES-F; docs/fabrics.md derives them):
 *     density  1 mg/cm^2            = 0.01 kg/m^2
 *     stretch  500 gf/cm at EMT %   : 490.3 N/m / (EMT / 100), the secant at the end of the tensile test
 *     shear    1 gf/(cm degree)     = 56.19 N/m per radian, and w_u.w_v = sin(angle)
 *     bend     1 gf cm^2/cm         = 9.807e-5 N m
 *
 * Sources:
 *     [K80]    Kawabata, The Standardization and Analysis of Hand Evaluation, 1980: ranges of cottons, means of men's
 *              winter suitings.
 *     [W11]    Wang, O'Brien, Ramamoorthi 2011, Data-driven elastic models for cloth: the measured materials of
 *              ARCSim. Their stretch is that of small loads; their bending coefficient k is 5 B, their shear
 *              coefficient twice ours.
 *     [P14]    Penava, Simic Penava, Knezic 2014, Determination of the elastic constants of plain woven fabrics,
 *              table 1.
 *     [D16]    Regenerated cellulose-based denim fabric for tropical regions, Journal of Textiles 2016, 4614168,
 *              table 5: six denims in KES-F.
 *     [F22]    Feng, Huang, Xu, Wang 2022, Learning-based bending stiffness parameter estimation by a drape tester:
 *              618 fabrics by weight and cantilever, without their names.
 *
 * "Median of [F22]" is that of the mean of warp and weft over the fabrics of about the same weight. If sources
 * disagree, the table has a value in the middle. Values marked "estimate" are not measured; all damping times are
 * estimates. */
#include "drape/cloth.h"

#include <string.h>

typedef struct fabric {
    const char *name, *source;
    drape_material material;
} fabric;

static const fabric fabrics[] = {
    {"cotton",
     "plain weave shirting: Kawabata 1980 (shear, bend), Penava 2014 (density), Wang 2011 and KES EMT (stretch)",
     {.density = 0.15,         /* [P14] 0.1503 */
      .stretch = {5000, 5000}, /* between 2100 at small loads [W11, 65 % cotton] and 9800 at EMT 5 % */
      .shear = 100,            /* [K80] G 0.5 to 3: 28 to 170 */
      .bend = 1e-5,            /* [K80] B 0.01 to 0.2: 1e-6 to 2e-5; median of [F22] at 0.14 to 0.16 kg/m^2: 1.1e-5 */
      .damping_stretch = 2e-4,
      .damping_shear = 2e-4,
      .damping_bend = 2e-4}},
    {"denim",
     "11 oz: Wang 2011 (density), Journal of Textiles 2016 4614168 (stretch, shear), Feng 2022 (bend)",
     {.density = 0.324,        /* [W11] */
      .stretch = {9000, 9000}, /* [D16] EMT 4.7 to 5.7 %: 8600 to 10400; with 1 % spandex 1050, 225 [W11] */
      .shear = 110,            /* [D16] G 1.5 to 3.4, mean 1.96; [W11] 35 */
      .bend = 4e-5,            /* [D16] 1.4e-5 to 2.2e-5, [W11] 1.3e-5 to 1.9e-5: soft ones;
                                  [F22] at 0.30 to 0.38 kg/m^2: median 4.2e-5, 1e-5 to 1.1e-4 */
      .damping_stretch = 2e-4,
      .damping_shear = 2e-4,
      .damping_bend = 2e-4}},
    {"felt",
     "pressed wool felt of some 1.2 mm: estimate; Feng 2022 for the bending of fabrics as heavy",
     {.density = 0.3,          /* estimate */
      .stretch = {2000, 2000}, /* estimate */
      .shear = 770,            /* estimate: no direction is special, so stretch / (2 (1 + nu)) with nu = 0.3 */
      .bend = 4e-5,            /* median of [F22] at 0.28 to 0.32 kg/m^2: 4.2e-5, 8e-6 to 7e-5 */
      .damping_stretch = 5e-4,
      .damping_shear = 5e-4,
      .damping_bend = 5e-4}},
    {"jersey",
     "T-shirt knit, warp along the wales: Wang 2011 (interlock of cotton and polyester)",
     {.density = 0.187,      /* [W11] */
      .stretch = {400, 130}, /* [W11] at the largest of its strains: wales 366 to 414, courses 124 to 140 */
      .shear = 20,           /* [W11] 11 to 22 and scattered */
      .bend = 4e-6,          /* [W11] 2.9e-6 to 4.9e-6 */
      .damping_stretch = 5e-4,
      .damping_shear = 5e-4,
      .damping_bend = 5e-4}},
    {"silk",
     "crepe de Chine of 16 momme: bend from the published drape coefficient; stretch and shear are estimates",
     {.density = 0.07,         /* 16 momme of 4.34 g/m^2 */
      .stretch = {5000, 5000}, /* estimate: as cotton */
      .shear = 20,             /* estimate: G 0.35; Matsudaira calls it very small in silk at small angles */
      .bend = 1.2e-6,          /* fitted: the drape coefficient is then in its published band, 20 to 40 %;
                                  [F22] at 0.05 to 0.08 kg/m^2, all fibres: 6e-7 to 2e-5, median 3.1e-6 */
      .damping_stretch = 2e-4,
      .damping_shear = 2e-4,
      .damping_bend = 2e-4}},
    {"wool",
     "worsted suiting: Kawabata 1980 (stretch, shear, bend; men's winter suitings), Penava 2014 (density)",
     {.density = 0.24,         /* [P14] 0.2348, [K80] 0.264 */
      .stretch = {4200, 3700}, /* between 2130, 1670 (FAST, 98 N/m) and 8200 ([K80] EMT 6.0 %) */
      .shear = 45,             /* [K80] G 0.97: 54; FAST 26 */
      .bend = 1.2e-5,          /* [K80] B 0.136: 1.33e-5; FAST 5e-6 at 0.168 kg/m^2; median of [F22]: 2.2e-5 */
      .damping_stretch = 2e-4,
      .damping_shear = 2e-4,
      .damping_bend = 2e-4}},
};

enum { COUNT = sizeof fabrics / sizeof *fabrics, COTTON = 0 };

drape_material drape_material_defaults(void) { return fabrics[COTTON].material; }

const char *drape_fabric_name(int32_t index) { return index >= 0 && index < COUNT ? fabrics[index].name : NULL; }

const char *drape_fabric_source(int32_t index) { return index >= 0 && index < COUNT ? fabrics[index].source : NULL; }

bool drape_fabric_find(const char *name, drape_material *out) {
    for (int32_t i = 0; i < COUNT && name && out; i++)
        if (strcmp(fabrics[i].name, name) == 0) {
            *out = fabrics[i].material;
            return true;
        }
    return false;
}
