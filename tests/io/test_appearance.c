/* Colors and images of pieces: names and numbers, files of images and what is refused of them, the keys of scenes,
 * and what every format makes of them. */
#include "sparse/counting_allocator.h"
#include "support/frames.h"
#include "support/images.h"

#include "io/appearance.h"
#include "sim/sim.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- colors ---- */

static void assert_color(const uint8_t *color, int red, int green, int blue) {
    assert_int_equal(color[0], red);
    assert_int_equal(color[1], green);
    assert_int_equal(color[2], blue);
}

static void colors_have_names_and_numbers(void **state) {
    (void)state;
    uint8_t color[3];
    for (int32_t i = 0; drape_color_name(i); i++) assert_true(drape_color_find(drape_color_name(i), color));
    assert_null(drape_color_name(-1));
    assert_true(drape_color_find("teal", color));
    assert_color(color, 0, 128, 128);
    assert_true(drape_color_find("#C0392b", color));
    assert_color(color, 0xc0, 0x39, 0x2b);
    assert_true(drape_color_find("#f0a", color));
    assert_color(color, 0xff, 0x00, 0xaa);
    static const char *const wrong[] = {"", "#", "#12", "#1234", "#12345", "#1234567", "#12345g", "reddish", "Red "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(drape_color_find(wrong[i], color));
    assert_false(drape_color_find(NULL, color));
}

static void light_is_the_standard_s(void **state) {
    (void)state;
    assert_true(drape_i_linear(0) == 0 && drape_i_linear(255) == 1);
    for (int32_t i = 0; i < 256; i++) {
        double c = i / 255.0, want = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
        assert_true(fabs(drape_i_linear((uint8_t)i) - want) < 1e-14);
    }
}

/* ---- files of images ---- */

static drape_status check_image(drape_context *ctx, const void *data, int64_t size, drape_i_image *out) {
    void *exact = malloc((size_t)size + (size == 0)); /* the sanitizer watches its end */
    assert_non_null(exact);
    memcpy(exact, data, (size_t)size);
    drape_status status = drape_i_image_check(ctx, "file", exact, size, out);
    free(exact);
    return status;
}

static void images_are_known_by_their_bytes(void **state) {
    const test_frames *t = *state;
    drape_i_image image;
    ASSERT_OK(t->ctx, check_image(t->ctx, test_png, test_png_size, &image));
    assert_string_equal(image.type, "image/png");
    assert_true(image.width == 8 && image.height == 4);
    ASSERT_OK(t->ctx, check_image(t->ctx, test_jpeg, test_jpeg_size, &image));
    assert_string_equal(image.type, "image/jpeg");
    assert_true(image.width == 16 && image.height == 8);
}

static void no_beginning_of_an_image_is_one(void **state) {
    const test_frames *t = *state;
    drape_i_image image;
    for (int64_t size = 0; size < test_png_size; size++)
        assert_int_equal(check_image(t->ctx, test_png, size, &image), DRAPE_ERROR_FORMAT);
    for (int64_t size = 0; size < test_jpeg_size; size++)
        assert_int_equal(check_image(t->ctx, test_jpeg, size, &image), DRAPE_ERROR_FORMAT);
}

/* Every byte of a PNG file is under a checksum, or part of one, of a length, or of the signature. */
static void no_byte_of_a_png_can_change(void **state) {
    const test_frames *t = *state;
    drape_i_image image;
    unsigned char *changed = malloc((size_t)test_png_size);
    assert_non_null(changed);
    for (int64_t i = 0; i < test_png_size; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(changed, test_png, (size_t)test_png_size);
            changed[i] ^= (unsigned char)(1 << bit);
            assert_int_equal(check_image(t->ctx, changed, test_png_size, &image), DRAPE_ERROR_FORMAT);
            assert_memory_equal(drape_message(t->ctx), "file: ", 6);
        }
    free(changed);
}

static void any_byte_of_a_jpeg_can_change(void **state) {
    const test_frames *t = *state;
    drape_i_image image;
    unsigned char *changed = malloc((size_t)test_jpeg_size);
    assert_non_null(changed);
    for (int64_t i = 0; i < test_jpeg_size; i++)
        for (int value = 0; value < 256; value++) {
            memcpy(changed, test_jpeg, (size_t)test_jpeg_size);
            changed[i] = (unsigned char)value;
            if (check_image(t->ctx, changed, test_jpeg_size, &image)) continue;
            assert_true(image.width >= 1 && image.width <= DRAPE_I_IMAGE_MOST_SIDE);
            assert_true(image.height >= 1 && image.height <= DRAPE_I_IMAGE_MOST_SIDE);
        }
    free(changed);
}

/* ---- scenes ---- */

static void write_bytes(const char *path, const void *data, int64_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, (size_t)size, file), size);
    fclose(file);
}

static drape_status load(const test_frames *t, const char *text, drape_loaded_scene **out) {
    write_bytes(test_frames_path(t, "quarters.png"), test_png, test_png_size);
    write_bytes(test_frames_path(t, "two.jpg"), test_jpeg, test_jpeg_size);
    static const char mesh[] = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                               "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n";
    write_bytes(test_frames_path(t, "square.obj"), mesh, (int64_t)strlen(mesh));
    return drape_scene_parse(t->ctx, test_frames_path(t, "scene.yaml"), text, (int64_t)strlen(text), NULL, out);
}

static void scenes_say_how_pieces_look(void **state) {
    const test_frames *t = *state;
    drape_loaded_scene *loaded;
    static const char text[] =
        "drape: 1\ncloth:\n"
        "  - {name: plain, grid: {width: 1 m, resolution: 3}}\n"
        "  - {name: named, grid: {width: 1 m, resolution: 3}, color: crimson}\n"
        "  - {name: whole, grid: {width: 3 m, height: 2 m, resolution: 4}, place: {scale: 2}, texture: "
        "quarters.png}\n"
        "  - {name: tiles, grid: {width: 1 m, resolution: 3}, color: '#fff', texture: {file: quarters.png, size: 20 "
        "cm}}\n"
        "  - {name: sized, grid: {width: 1 m, resolution: 3}, texture: {file: two.jpg, size: [30 cm, 40 cm]}}\n"
        "colliders: [{shape: plane}, {shape: sphere, radius: 1 m, color: gold, place: {translate: [0, 0, -9]}}]\n";
    ASSERT_OK(t->ctx, load(t, text, &loaded));
    const drape_scene *s = drape_loaded_scene_data(loaded);
    assert_null(s->pieces[0].appearance);
    const drape_appearance *named = s->pieces[1].appearance, *whole = s->pieces[2].appearance;
    const drape_appearance *tiles = s->pieces[3].appearance, *sized = s->pieces[4].appearance;
    assert_true(named->colored && !named->image);
    assert_color(named->color, 220, 20, 60);
    assert_true(!whole->colored && whole->image_bytes == test_png_size);
    assert_memory_equal(whole->image, test_png, test_png_size);
    assert_true(whole->image_size[0] == 6 && whole->image_size[1] == 4);
    assert_true(whole->image_origin[0] == -3 && whole->image_origin[1] == -2);
    assert_true(tiles->colored && tiles->image == whole->image); /* read once */
    assert_true(fabs(tiles->image_size[0] - 0.2) < 1e-15 && fabs(tiles->image_size[1] - 0.1) < 1e-15);
    assert_memory_equal(sized->image, test_jpeg, test_jpeg_size);
    assert_true(fabs(sized->image_size[0] - 0.3) < 1e-15 && fabs(sized->image_size[1] - 0.4) < 1e-15);
    assert_null(s->colliders[0].appearance);
    assert_color(s->colliders[1].appearance->color, 255, 215, 0);
    assert_string_equal(drape_loaded_scene_file(loaded, 0), test_frames_path(t, "quarters.png"));
    assert_string_equal(drape_loaded_scene_file(loaded, 1), test_frames_path(t, "two.jpg"));
    assert_null(drape_loaded_scene_file(loaded, 2));
    drape_loaded_scene_destroy(loaded);
}

/* The image lies as the file's texture coordinates say, whatever they are as lengths. */
static void meshes_have_the_coordinates_of_their_file(void **state) {
    const test_frames *t = *state;
    drape_loaded_scene *loaded;
    static const char text[] =
        "drape: 1\ncloth:\n"
        "  - {name: scaled, mesh: square.obj, unit: cm, uv_scale: 2, place: {scale: 3}, texture: quarters.png}\n"
        "  - {name: without, mesh: square.obj, uv: false, texture: quarters.png}\n";
    ASSERT_OK(t->ctx, load(t, text, &loaded));
    const drape_scene *s = drape_loaded_scene_data(loaded);
    for (int32_t p = 0; p < 2; p++) {
        const drape_appearance *look = s->pieces[p].appearance;
        const double *uv = p == 0 ? s->pieces[p].uv : look->uv;
        const int32_t *corner = p == 0 ? s->pieces[p].uv_triangle : look->uv_triangle;
        static const double want[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
        static const int32_t order[6] = {0, 1, 2, 0, 2, 3};
        for (int32_t i = 0; i < 6; i++)
            for (int32_t k = 0; k < 2; k++) {
                double st = (uv[2 * corner[i] + k] - look->image_origin[k]) / look->image_size[k];
                assert_true(fabs(st - want[order[i]][k]) < 1e-12);
            }
    }
    assert_null(s->pieces[1].uv);
    drape_loaded_scene_destroy(loaded);
}

static void looks_are_no_part_of_what_is_simulated(void **state) {
    const test_frames *t = *state;
    static const char plain[] =
        "drape: 1\ncloth: [{grid: {width: 1 m, resolution: 3}}]\ncolliders: [{shape: plane}]\n";
    static const char looks[] =
        "drape: 1\ncloth: [{grid: {width: 1 m, resolution: 3}, color: red, texture: two.jpg}]\n"
        "colliders: [{shape: plane, color: olive}]\n";
    drape_loaded_scene *a, *b;
    ASSERT_OK(t->ctx, load(t, plain, &a));
    ASSERT_OK(t->ctx, load(t, looks, &b));
    assert_true(drape_i_scene_hash(drape_loaded_scene_data(a)) == drape_i_scene_hash(drape_loaded_scene_data(b)));
    drape_loaded_scene_destroy(a);
    drape_loaded_scene_destroy(b);
}

static void links_lead_nowhere_else(void **state) {
    const test_frames *t = *state;
    drape_loaded_scene *loaded;
    assert_int_equal(symlink("/etc/passwd", test_frames_path(t, "link.png")), 0);
    assert_int_equal(load(t, "drape: 1\ncloth: [{grid: {resolution: 3}, texture: link.png}]\n", &loaded),
                     DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(t->ctx), "is outside the scene's folder"));
}

static void large_files_are_not_read(void **state) {
    const test_frames *t = *state;
    drape_loaded_scene *loaded;
    FILE *file = fopen(test_frames_path(t, "large.png"), "wb");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)1 << 40), 0); /* holes take no room */
    fclose(file);
    assert_int_equal(load(t, "drape: 1\ncloth: [{grid: {resolution: 3}, texture: large.png}]\n", &loaded),
                     DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(t->ctx), "16 MiB"));
}

/* ---- formats: a piece with an image, one with an image and seams, one with a color ---- */

static void set_looks(test_frames *t, drape_appearance look[3]) {
    memset(look, 0, 3 * sizeof *look);
    look[0] = (drape_appearance){.image = test_png, .image_bytes = test_png_size, .image_size = {1, 0.5}};
    look[1] = (drape_appearance){.colored = true,
                                 .color = {255, 128, 0},
                                 .image = test_png,
                                 .image_bytes = test_png_size,
                                 .image_origin = {0.25, 0},
                                 .image_size = {0.5, 0.25}};
    look[2] = (drape_appearance){.colored = true, .color = {0, 128, 255}};
    for (int32_t i = 0; i < 3; i++) t->piece[i].appearance = &look[i];
}

static uint32_t little(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static const json_t *at(const json_t *from, const char *list, size_t index) {
    const json_t *found = json_array_get(json_object_get(from, list), index);
    assert_non_null(found);
    return found;
}

static json_int_t whole(const json_t *from, const char *key) {
    assert_true(json_is_integer(json_object_get(from, key)));
    return json_integer_value(json_object_get(from, key));
}

static const json_t *material_of(const json_t *root, size_t mesh) {
    return at(root, "materials", (size_t)whole(at(at(root, "meshes", mesh), "primitives", 0), "material"));
}

static void assert_factor(const json_t *material, const uint8_t *color) {
    const json_t *pbr = json_object_get(material, "pbrMetallicRoughness");
    assert_true(json_is_true(json_object_get(material, "doubleSided")));
    for (size_t k = 0; k < 3; k++)
        assert_true(fabs(json_number_value(at(pbr, "baseColorFactor", k)) - drape_i_linear(color[k])) < 1e-8);
    assert_true(json_number_value(at(pbr, "baseColorFactor", 3)) == 1);
}

static void assert_image(const json_t *root, const json_t *material, const unsigned char *binary, int wrap) {
    const json_t *map = json_object_get(json_object_get(material, "pbrMetallicRoughness"), "baseColorTexture");
    const json_t *texture = at(root, "textures", (size_t)whole(map, "index"));
    const json_t *image = at(root, "images", (size_t)whole(texture, "source"));
    const json_t *sampler = at(root, "samplers", (size_t)whole(texture, "sampler"));
    const json_t *view = at(root, "bufferViews", (size_t)whole(image, "bufferView"));
    assert_string_equal(json_string_value(json_object_get(image, "mimeType")), "image/png");
    assert_int_equal(whole(view, "byteLength"), test_png_size);
    assert_memory_equal(binary + whole(view, "byteOffset"), test_png, test_png_size);
    assert_int_equal(whole(sampler, "wrapS"), wrap);
    assert_int_equal(whole(sampler, "wrapT"), wrap);
}

static void glb_has_factors_and_the_image(void **state) {
    test_frames *t = *state;
    drape_appearance look[3];
    set_looks(t, look);
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "a.glb", &what, 2);
    int64_t size;
    unsigned char *data = test_frames_read(t, "a.glb", &size);
    uint32_t json_size = little(data + 12);
    const unsigned char *binary = data + 28 + json_size;
    json_t *root = json_loadb((const char *)data + 20, json_size, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_array_size(json_object_get(root, "images")), 1); /* two pieces share it */
    assert_int_equal(json_array_size(json_object_get(root, "materials")), 3);
    assert_factor(material_of(root, 0), (const uint8_t[]){255, 255, 255});
    assert_image(root, material_of(root, 0), binary, 33071); /* all of it lies on the image: clamped */
    assert_factor(material_of(root, 1), look[1].color);
    assert_image(root, material_of(root, 1), binary, 10497);
    assert_factor(material_of(root, 2), look[2].color);
    assert_null(json_object_get(json_object_get(material_of(root, 2), "pbrMetallicRoughness"), "baseColorTexture"));
    /* The first piece's texture coordinates cover the image once. */
    const json_t *attributes = json_object_get(at(at(root, "meshes", 0), "primitives", 0), "attributes");
    const json_t *uv = at(root, "accessors", (size_t)whole(attributes, "TEXCOORD_0"));
    const json_t *view = at(root, "bufferViews", (size_t)whole(uv, "bufferView"));
    const unsigned char *from = binary + whole(view, "byteOffset") + whole(uv, "byteOffset");
    for (json_int_t i = 0; i < whole(uv, "count"); i++) {
        float st[2];
        memcpy(st, from + 8 * i, sizeof st);
        assert_true(fabs((double)st[0] - t->piece[0].uv[2 * i]) < 1e-6);
        assert_true(fabs((double)st[1] - (1 - 2 * t->piece[0].uv[2 * i + 1])) < 1e-6);
    }
    json_decref(root);
    free(data);
}

static char *read_text(const test_frames *t, const char *name) {
    int64_t size;
    return (char *)test_frames_read(t, name, &size);
}

static void assert_same_bytes(const test_frames *t, const char *name, const void *data, int64_t bytes) {
    int64_t size;
    unsigned char *read = test_frames_read(t, name, &size);
    assert_int_equal(size, bytes);
    assert_memory_equal(read, data, bytes);
    free(read);
}

static int32_t count(const char *text, const char *word) {
    int32_t found = 0;
    for (const char *c = text; (c = strstr(c, word)); c++) found++;
    return found;
}

static void usda_has_surfaces_and_the_image_beside_it(void **state) {
    test_frames *t = *state;
    drape_appearance look[3];
    set_looks(t, look);
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "a.usda", &what, 2);
    char *text = read_text(t, "a.usda"), wanted[200];
    assert_int_equal(count(text, "prepend apiSchemas = [\"MaterialBindingAPI\"]"), 3);
    assert_int_equal(count(text, "def Material "), 3);
    assert_int_equal(count(text, "info:id = \"UsdPreviewSurface\""), 3);
    assert_int_equal(count(text, "asset inputs:file = @./a_texture_0.png@"), 2);
    assert_int_equal(count(text, "wrapS = \"clamp\""), 1);
    assert_int_equal(count(text, "wrapS = \"repeat\""), 1);
    snprintf(wanted, sizeof wanted, "color3f[] primvars:displayColor = [(%.9g, %.9g, %.9g)]", drape_i_linear(0),
             drape_i_linear(128), drape_i_linear(255));
    assert_int_equal(count(text, wanted), 1);
    snprintf(wanted, sizeof wanted, "float4 inputs:scale = (%.9g, %.9g, %.9g, 1)", drape_i_linear(255),
             drape_i_linear(128), drape_i_linear(0));
    assert_int_equal(count(text, wanted), 1);
    assert_same_bytes(t, "a_texture_0.png", test_png, test_png_size);
    assert_int_equal(test_frames_entries(t), 2);
    free(text);
}

static void html_has_the_image_as_a_data_uri(void **state) {
    test_frames *t = *state;
    drape_appearance look[3];
    set_looks(t, look);
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "a.html", &what, 2);
    char *text = read_text(t, "a.html"), *data = strstr(text, "\ndata:image/png;base64,iVBORw0KGgo");
    assert_non_null(data);
    int64_t letters = (int64_t)strcspn(data + 1, "\n") - (int64_t)strlen("data:image/png;base64,");
    assert_int_equal(letters, (test_png_size + 2) / 3 * 4);
    assert_int_equal(count(text, "<script id=\"drape-image-"), 1);
    assert_int_equal(count(text, "\"color\":\"#ff8000\",\"image\":0,\"repeats\":true"), 1);
    assert_int_equal(count(text, "\"color\":\"#0080ff\"}"), 1);
    assert_int_equal(test_frames_entries(t), 1);
    free(text);
}

static void obj_has_materials_for_all_frames(void **state) {
    test_frames *t = *state;
    drape_appearance look[3];
    set_looks(t, look);
    t->piece[0].appearance = NULL;
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "a.obj", &what, 2);
    char *second = read_text(t, "a_0001.obj"), *library = read_text(t, "a.mtl");
    assert_int_equal(count(second, "mtllib a.mtl\n"), 1);
    assert_int_equal(count(second, "usemtl cloth\n"), 1);
    assert_int_equal(count(second, "usemtl left__one__1\n"), 1);
    assert_int_equal(count(library, "newmtl left__one__1\nKd 1.0000 0.5020 0.0000\nmap_Kd -o -0.5 0 0 -s 2 4 1 "
                                    "a_texture_0.png\n"),
                     1);
    assert_int_equal(count(library, "newmtl 3__2\nKd 0.0000 0.5020 1.0000\n"), 1);
    assert_same_bytes(t, "a_texture_0.png", test_png, test_png_size);
    assert_int_equal(test_frames_entries(t), 4);
    free(second);
    free(library);
}

/* Meshes beside the cloth take the color of the first frame. */
static void meshes_have_colors(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 1);
    static const double x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const int32_t corner[3] = {0, 1, 2};
    const drape_frame_mesh mesh[2] = {{"ball", 3, 1, x, corner}, {"floor", 3, 1, x, corner}};
    const drape_appearance gold = {.colored = true, .color = {255, 215, 0}};
    const drape_appearance *const looks[2] = {&gold, NULL};
    static const char *const names[] = {"m.glb", "m.usda", "m.html", "m.obj"};
    static const char *const wanted[] = {"{\"name\":\"ball\",\"doubleSided\"", "def Material \"ball\"", "#ffd700",
                                         "usemtl ball_1"};
    for (int32_t i = 0; i < 4; i++) {
        drape_writer *writer;
        ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, names[i]), &what, &writer));
        for (int32_t f = 0; f < 2; f++) {
            test_frames_fill(t, f);
            drape_frame frame = {.positions = t->x, .meshes = mesh, .mesh_count = 2};
            if (f == 0) frame.mesh_appearance = looks;
            ASSERT_OK(t->ctx, drape_writer_frame(writer, &frame));
        }
        ASSERT_OK(t->ctx, drape_writer_close(writer));
        int64_t size;
        unsigned char *data = test_frames_read(t, i == 3 ? "m_0001.obj" : names[i], &size);
        bool found = false;
        for (int64_t k = 0; k + (int64_t)strlen(wanted[i]) <= size; k++)
            found |= memcmp(data + k, wanted[i], strlen(wanted[i])) == 0;
        assert_true(found);
        free(data);
    }
}

/* A piece that says nothing, in whichever way, is written as if there were no such thing as looks. */
static void nothing_said_changes_nothing(void **state) {
    test_frames *t = *state;
    static const char *const endings[] = {"glb", "usda", "html"};
    static const drape_appearance nothing;
    for (int32_t i = 0; i < 3; i++) {
        char names[2][16];
        for (int32_t side = 0; side < 2; side++) {
            for (int32_t p = 0; p < 3; p++) t->piece[p].appearance = side ? &nothing : NULL;
            snprintf(names[side], sizeof names[side], "%d.%s", side, endings[i]);
            drape_animation what = test_frames_animation(t, 0, 3);
            test_frames_write(t, names[side], &what, 2);
        }
        int64_t size;
        unsigned char *data = test_frames_read(t, names[0], &size);
        assert_same_bytes(t, names[1], data, size);
        free(data);
    }
    assert_int_equal(test_frames_entries(t), 6);
}

static void names_of_files_are_told_before(void **state) {
    test_frames *t = *state;
    drape_appearance look[3];
    char name[64];
    set_looks(t, look);
    drape_scene scene = {.pieces = t->piece, .piece_count = 3};
    assert_int_equal(drape_writer_makes_besides("b/a.obj", &scene, 0, name, sizeof name), strlen("b/a.mtl"));
    assert_string_equal(name, "b/a.mtl");
    drape_writer_makes_besides("b/a.obj", &scene, 1, name, sizeof name);
    assert_string_equal(name, "b/a_texture_*.png");
    assert_int_equal(drape_writer_makes_besides("b/a.obj", &scene, 2, name, sizeof name), 0);
    drape_writer_makes_besides("a.usda", &scene, 0, name, sizeof name);
    assert_string_equal(name, "a_texture_*.png");
    assert_int_equal(drape_writer_makes_besides("a.glb", &scene, 0, name, sizeof name), 0);
    for (int32_t i = 0; i < 3; i++) t->piece[i].appearance = NULL;
    assert_int_equal(drape_writer_makes_besides("b/a.obj", &scene, 0, name, sizeof name), 0);
}

static void refuse(test_frames *t, const drape_appearance *look, int32_t piece, const char *why) {
    drape_writer *writer;
    drape_animation what = test_frames_animation(t, piece, 1);
    t->piece[piece].appearance = look;
    assert_int_equal(drape_writer_open(t->ctx, test_frames_path(t, "no.glb"), &what, &writer), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(t->ctx), why));
    t->piece[piece].appearance = NULL;
}

static void wrong_looks_are_refused(void **state) {
    test_frames *t = *state;
    const drape_appearance good = {.image = test_png, .image_bytes = test_png_size};
    drape_appearance look = good;
    look.image_bytes--;
    refuse(t, &look, 0, "truncated");
    look = good;
    look.image_size[1] = -1;
    refuse(t, &look, 0, "image_size");
    look.image_size[1] = NAN;
    refuse(t, &look, 0, "image_size");
    look = good;
    look.reserved[2] = 1;
    refuse(t, &look, 0, "drape_appearance");
    refuse(t, &good, 2, "has uv");
    static const double uv[8] = {0, 0, 1, 0, 1, 1, 0, 1};
    static const int32_t corner[6] = {0, 1, 2, 0, 2, 4};
    look = good;
    look.uv = uv, look.uv_triangle = corner, look.uv_vertices = 4;
    refuse(t, &look, 2, "outside its uv");
    assert_int_equal(test_frames_entries(t), 0);
}

/* Where memory ends at any request, everything else is given back and no half file stays. */
static void memory_that_runs_out(void **state) {
    test_frames *t = *state;
    drape_appearance look[3];
    set_looks(t, look);
    static const char *const names[] = {"n.glb", "n.usda", "n.html", "n.obj"};
    for (int32_t i = 0; i < 4; i++) {
        bool failed = true;
        for (int64_t n = 0; failed; n++) {
            counting_allocator memory = {.left = -1};
            drape_context *ctx = counting_context(&memory);
            drape_cloth *cloth;
            drape_writer *writer;
            ASSERT_OK(ctx, drape_cloth_create(ctx, t->piece, 3, NULL, &cloth));
            double *x = calloc(3 * (size_t)drape_cloth_vertices(cloth), sizeof *x);
            drape_animation what = {.cloth = cloth, .pieces = t->piece};
            memory.left = n;
            drape_status status = drape_writer_open(ctx, test_frames_path(t, names[i]), &what, &writer);
            if (!status) {
                status = drape_writer_frame(writer, &(drape_frame){.positions = x});
                drape_status closed = drape_writer_close(writer);
                if (!status) status = closed;
            }
            failed = memory.failed;
            assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
            free(x);
            drape_cloth_destroy(cloth);
            drape_context_destroy(ctx);
            assert_int_equal(memory.live, 0);
        }
    }
}

#define WITH_FRAMES(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colors_have_names_and_numbers),
        cmocka_unit_test(light_is_the_standard_s),
        WITH_FRAMES(images_are_known_by_their_bytes),
        WITH_FRAMES(no_beginning_of_an_image_is_one),
        WITH_FRAMES(no_byte_of_a_png_can_change),
        WITH_FRAMES(any_byte_of_a_jpeg_can_change),
        WITH_FRAMES(scenes_say_how_pieces_look),
        WITH_FRAMES(meshes_have_the_coordinates_of_their_file),
        WITH_FRAMES(looks_are_no_part_of_what_is_simulated),
        WITH_FRAMES(links_lead_nowhere_else),
        WITH_FRAMES(large_files_are_not_read),
        WITH_FRAMES(glb_has_factors_and_the_image),
        WITH_FRAMES(usda_has_surfaces_and_the_image_beside_it),
        WITH_FRAMES(html_has_the_image_as_a_data_uri),
        WITH_FRAMES(obj_has_materials_for_all_frames),
        WITH_FRAMES(meshes_have_colors),
        WITH_FRAMES(nothing_said_changes_nothing),
        WITH_FRAMES(names_of_files_are_told_before),
        WITH_FRAMES(wrong_looks_are_refused),
        WITH_FRAMES(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
