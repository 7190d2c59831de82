#!/usr/bin/env bash
# `drape render` from outside: pictures and films of files and of scenes, bad input, what is there afterwards.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2

in_folder() {
    local folder
    folder=$(mktemp -d "$scratch/folder-XXXXXX")
    cd "$folder" || return
    "$@"
}
check() { run_test "$1" in_folder "$@"; }

# render CODE ARGUMENT...: with $search_path as PATH
search_path=$PATH
render() {
    local wanted=$1 code=0
    shift
    env PATH="$search_path" "$program" render "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape render $*: $(cat "$scratch/err")"
}

# refuses WORDS ARGUMENT...: exit code 2, one line with these words, no output, no file.
refuses() {
    local words=$1 before
    shift
    before=$(ls -A)
    render 2 "$@"
    [ ! -s "$scratch/out" ] || fail "printed: $(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one line: $(cat "$scratch/err")"
    grep -qF -- "$words" "$scratch/err" || fail "should have said '$words': $(cat "$scratch/err")"
    [ "$(ls -A)" = "$before" ] || fail "wrote something: $(ls -A)"
}

lists() { [ "$(ls -A)" = "$(printf '%s\n' "$@")" ] || fail "there is: $(ls -A)"; }

# Width and height of a .png or .gif.
size_of() {
    python3 -c 'import struct, sys
data = open(sys.argv[1], "rb").read()
print(*(struct.unpack(">II", data[16:24]) if data[:4] == b"\x89PNG" else struct.unpack("<HH", data[6:10])))' "$1"
}

# A run of three frames: positions with their mesh, and meshes.
simulate() { "$program" run drooping --resolution 9 --frames 2 --quiet -o a.pc2 -o a.obj; }

picture_of_a_run() {
    simulate
    render 0 a.pc2 last.png --size 64x36 --threads 1
    grep -qF 'wrote last.png: frame 2, 64 x 36 pixels' "$scratch/out" || fail "$(cat "$scratch/out")"
    [ "$(size_of last.png)" = "64 36" ]
    render 0 a.pc2 again.png --size 64x36 --threads 2 --frame 2 --quiet
    [ ! -s "$scratch/out" ]
    cmp last.png again.png
    render 0 a.pc2 first.png --size 64x36 --frame 0
    ! cmp -s last.png first.png
    render 0 a.pc2 other.PNG --size 64x36 --view 30,60 --background 102030,405060 --no-floor --samples 4
    ! cmp -s last.png other.PNG
}

scene_is_simulated() {
    simulate
    render 0 a.obj file.png --size 64x36 --scene drooping --resolution 9 --frame 2
    render 0 drooping scene.png --size 64x36 --resolution 9 --frame 2
    cmp file.png scene.png
    "$program" scenes --show drooping >d.yaml
    render 0 d.yaml scene2.png --size 64x36 --resolution 9 --frame 2
    cmp file.png scene2.png
}

colliders_are_drawn() {
    "$program" run needles --resolution 9 --frames 1 --quiet -o s.pc2
    render 0 s.pc2 without.png --size 64x36
    render 0 s.pc2 with.png --size 64x36 --scene needles --resolution 9
    ! cmp -s without.png with.png
    render 0 s.pc2 left-out.png --size 64x36 --scene needles --resolution 9 --no-colliders
    cmp without.png left-out.png
}

colors_of_the_scene_are_drawn() {
    "$program" run needles --resolution 9 --frames 1 --quiet -o s.pc2
    render 0 s.pc2 plain.png --size 64x36 --scene needles --resolution 9
    render 0 s.pc2 navy.png --size 64x36 --scene needles --resolution 9 --set cloth.0.color=navy
    ! cmp -s plain.png navy.png
}

series_of_pictures() {
    simulate
    rm a_0*.obj
    render 0 a.pc2 p.png --size 16x9 --frames 1:
    grep -q '^wrote 2 pictures' "$scratch/out"
    lists a.pc2 a_rest.obj p_0001.png p_0002.png
    render 0 a.pc2 q.png --size 16x9 --frames :0
    [ -e q_0000.png ] && [ ! -e q_0001.png ]
}

film_as_gif() {
    simulate
    render 0 a.pc2 f.gif --size 64x36
    grep -qF '3 frames of 64 x 36 pixels, 25 per second' "$scratch/out" || fail "$(cat "$scratch/out")"
    [ "$(size_of f.gif)" = "64 36" ]
    render 0 a.pc2 g.gif --size 64x36 --threads 1
    cmp f.gif g.gif
    render 0 a.pc2 fast.gif --size 64x36 --fps 60 # at most 50: each second one
    grep -qF '2 frames of 64 x 36 pixels, 30 per second' "$scratch/out" || fail "$(cat "$scratch/out")"
}

needs_ffmpeg() { command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null || skip "no ffmpeg (scripts/setup --test)"; }

film_as_mp4() {
    needs_ffmpeg
    simulate
    rm a_0*.obj
    render 0 a.pc2 "a film: 100%.mp4" --size 64x36 --fps 12.5
    lists "a film: 100%.mp4" a.pc2 a_rest.obj
    [ "$(ffprobe -v error -count_frames -show_entries stream=codec_name,width,height,r_frame_rate,nb_read_frames \
        -of csv=p=0 "file:a film: 100%.mp4")" = h264,64,36,25/2,3 ]
}

# A program by the name of ffmpeg that does what the argument says.
fake_ffmpeg() {
    mkdir bin
    printf '#!/bin/sh\n%s\n' "$1" >bin/ffmpeg
    chmod +x bin/ffmpeg
}

ffmpeg_that_is_not_there() {
    mkdir empty
    search_path=$PWD/empty
    refuses "apt install ffmpeg" no-such-frames.pc2 f.mp4 # said first, before any work
}

ffmpeg_that_fails() {
    simulate
    rm a_0*.obj
    fake_ffmpeg 'exit 3'
    echo before >f.mp4
    search_path=$PWD/bin
    render 1 a.pc2 f.mp4 --size 640x360
    grep -q '^drape: f.mp4: ffmpeg' "$scratch/err" || fail "$(cat "$scratch/err")"
    [ "$(cat f.mp4)" = before ]
    lists a.pc2 a_rest.obj bin f.mp4
}

interrupted_leaves_nothing() {
    local code=0
    timeout --preserve-status -s INT 3 "$program" render twist f.gif --size 64x36 --quiet >/dev/null 2>"$scratch/err" || code=$?
    [ "$code" -eq 130 ] || fail "exit code $code: $(cat "$scratch/err")"
    [ -z "$(ls -A)" ] || fail "there is $(ls -A)"
}

bad_words() {
    simulate
    refuses 'no frames and no output given'
    refuses 'no output given' a.pc2
    refuses 'a picture is a .png, a film a .gif or .mp4' a.pc2 a.jpg
    refuses 'a picture is a .png' a.pc2 .png
    refuses '--size 0x5: expected WIDTHxHEIGHT' a.pc2 a.png --size 0x5
    refuses '--size 10: expected WIDTHxHEIGHT' a.pc2 a.png --size 10
    refuses '20000 x 5 pixels' a.pc2 a.png --size 20000x5
    refuses '--view 1: expected AZIMUTH,ELEVATION' a.pc2 a.png --view 1
    refuses '--view 0,91: expected AZIMUTH' a.pc2 a.png --view 0,91
    refuses '5 samples per pixel: 1, 4, 9' a.pc2 a.png --samples 5
    refuses '--samples 65: expected a whole number from 1 to 64' a.pc2 a.png --samples 65
    refuses '--background red: expected a color RRGGBB' a.pc2 a.png --background red
    refuses '--background 00ff00,: expected a color' a.pc2 a.png --background 00ff00,
    refuses '--fps -1: it must be 0.01 to 1000' a.pc2 a.gif --fps -1
    refuses '--frames 2: expected FIRST:LAST' a.pc2 a.gif --frames 2
    refuses '--frames 2:1: expected FIRST:LAST' a.pc2 a.gif --frames 2:1
    refuses 'frames 0 to 2; there is nothing to draw for --frame 3' a.pc2 a.png --frame 3
    refuses 'frames 0 to 2; there is nothing to draw for --frames 7:9' a.pc2 a.gif --frames 7:9
    refuses 'give only one of them' a.pc2 a.gif --frame 1 --frames 0:1
    refuses 'even number of pixels in both directions, not 65 x 36' a.pc2 a.mp4 --size 65x36
    refuses 'is a scene itself' drooping a.png --scene drooping
    refuses 'unknown option --glossy' a.pc2 a.png --glossy
}

bad_files() {
    simulate
    refuses 'neither this file nor' gone.obj a.png
    refuses 'not a known format for frames' a.png b.png
    refuses 'of drooping' a.obj a.png --scene drooping --resolution 9 --irregular
    refuses 'has 81 vertices, but the cloth of drooping' a.pc2 a.png --scene drooping --resolution 12
    refuses 'no/a.png: cannot write' a.pc2 no/a.png
    refuses 'no/a.gif: cannot write' a.pc2 no/a.gif
    refuses 'gone.yaml' gone.yaml a.png
    mkdir folder.png
    refuses 'folder.png: cannot write' a.pc2 folder.png
    head -c 1000 a.pc2 >cut.pc2
    refuses 'cut.pc2' cut.pc2 a.png
    rm a_rest.obj
    refuses 'holds only positions' a.pc2 a.png
    echo 'v 0 0' >>a_0001.obj
    refuses 'a_0001.obj' a.obj a.gif
}

check picture_of_a_run
check scene_is_simulated
check colliders_are_drawn
check colors_of_the_scene_are_drawn
check series_of_pictures
check film_as_gif
check film_as_mp4
check ffmpeg_that_is_not_there
check ffmpeg_that_fails
check interrupted_leaves_nothing
check bad_words
check bad_files
finish_tests
