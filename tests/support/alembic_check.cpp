// alembic_check FILE.abc STEM: reads an archive with the Alembic library and compares every mesh of every frame with
// the objects of STEM_0000.obj, STEM_0001.obj, ... of the same run. Prints what it saw; fails with the first
// difference.
#include <Alembic/AbcCoreOgawa/All.h>
#include <Alembic/AbcGeom/All.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace Geom = Alembic::AbcGeom;
using Geom::V3d;

namespace {

struct Object {
    std::vector<V3d> position;
    std::vector<int> corner; // into position
};

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "alembic_check: %s\n", what.c_str());
    std::exit(1);
}

// Objects in their order; z up becomes y up.
std::vector<Object> read_obj(const std::string &path) {
    std::ifstream file(path);
    std::vector<Object> objects;
    std::string line;
    int before = 0, all = 0;
    if (!file) fail(path + ": cannot read");
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "o") {
            objects.emplace_back();
            before = all;
        } else if (word == "v") {
            double x, y, z;
            words >> x >> y >> z;
            objects.back().position.emplace_back(x, z, -y);
            all++;
        } else if (word == "f") {
            while (words >> word) objects.back().corner.push_back(std::atoi(word.c_str()) - 1 - before);
        }
    }
    return objects;
}

std::vector<Geom::IPolyMesh> find_meshes(const Alembic::Abc::IObject &object) {
    std::vector<Geom::IPolyMesh> found;
    for (size_t i = 0; i < object.getNumChildren(); i++) {
        const Alembic::Abc::ObjectHeader &header = object.getChildHeader(i);
        if (Geom::IPolyMesh::matches(header)) found.emplace_back(object, header.getName());
        for (const Geom::IPolyMesh &mesh : find_meshes(object.getChild(i))) found.push_back(mesh);
    }
    return found;
}

void compare(const Geom::IPolyMesh &mesh, int64_t frame, const Object &wanted) {
    Alembic::Abc::ISampleSelector at(frame);
    const std::string where = mesh.getFullName() + ", frame " + std::to_string(frame) + ": ";
    Geom::IPolyMeshSchema::Sample sample = mesh.getSchema().getValue(at);
    Geom::IXform parent(mesh.getParent(), Alembic::Abc::kWrapExisting);
    Geom::XformSample moved = parent.getSchema().getValue(at);
    const Geom::M44d matrix = moved.getMatrix();
    if (!moved.getInheritsXforms()) fail(where + "does not inherit");
    if (sample.getPositions()->size() != wanted.position.size()) fail(where + "another number of vertices");
    Geom::Box3d reach;
    for (size_t i = 0; i < wanted.position.size(); i++) {
        V3d own((*sample.getPositions())[i]), p;
        reach.extendBy(own);
        matrix.multVecMatrix(own, p);
        double allowed = 1e-6 * (1 + wanted.position[i].length());
        if (!((p - wanted.position[i]).length() <= allowed)) fail(where + "vertex " + std::to_string(i));
    }
    if (sample.getSelfBounds() != reach) fail(where + "bounds");
    const size_t corners = wanted.corner.size();
    if (sample.getFaceIndices()->size() != corners || sample.getFaceCounts()->size() != corners / 3)
        fail(where + "another number of triangles");
    for (size_t i = 0; i < corners; i++) // the other way round
        if ((*sample.getFaceIndices())[i] != wanted.corner[3 * (i / 3) + 2 - i % 3]) fail(where + "corners");
    Geom::IN3fGeomParam normals = mesh.getSchema().getNormalsParam();
    if (normals.valid() && normals.getExpandedValue(at).getVals()->size() != wanted.position.size())
        fail(where + "normals");
    Geom::IV2fGeomParam uv = mesh.getSchema().getUVsParam();
    if (uv.valid() && uv.getExpandedValue(at).getVals()->size() != corners) fail(where + "texture coordinates");
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) fail("FILE.abc STEM");
    try {
        Alembic::Abc::IArchive archive(Alembic::AbcCoreOgawa::ReadArchive(), argv[1]);
        std::vector<Geom::IPolyMesh> meshes = find_meshes(archive.getTop());
        Alembic::Abc::TimeSamplingPtr times = archive.getTimeSampling(1);
        double start = 0, end = 0;
        Alembic::Abc::GetArchiveStartAndEndTime(archive, start, end);
        if (meshes.empty()) fail("no meshes");
        const int64_t frames = static_cast<int64_t>(meshes[0].getSchema().getNumSamples());
        for (int64_t f = 0; f < frames; f++) {
            char name[32];
            std::snprintf(name, sizeof name, "_%04d.obj", static_cast<int>(f));
            std::vector<Object> wanted = read_obj(argv[2] + std::string(name));
            if (wanted.size() != meshes.size()) fail(name + std::string(": another number of objects"));
            for (size_t i = 0; i < meshes.size(); i++) compare(meshes[i], f, wanted[i]);
        }
        Geom::IBox3dProperty bounds = Geom::GetIArchiveBounds(archive, Alembic::Abc::ErrorHandler::kQuietNoopPolicy);
        if (!bounds.valid() || bounds.getValue().isEmpty()) fail("no bounds of the archive");
        std::printf("%lld frames of %zu meshes agree, %g s to %g s\n", static_cast<long long>(frames), meshes.size(),
                    start, end);
    } catch (const std::exception &e) {
        fail(e.what());
    }
    return 0;
}
