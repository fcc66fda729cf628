# Lines of run, input, everything counted in percent, new paths only in percent, new paths → a picture in SVG.
{
    runs++
    everything[runs] = $3 + 0
    residual[runs] = $4 + 0
    paths[runs] = $5 + 0
    if ($3 + 0 > top) top = $3 + 0
    if ($4 + 0 > top) top = $4 + 0
    if ($4 + 0 < bottom) bottom = $4 + 0
    if ($5 + 0 > most) most = $5 + 0
}

function x(run) { return 70 + (run - 0.5) * 800 / runs }
function y(percent) { return 320 - (percent - bottom) * 260 / (top - bottom) }

function text(at, down, anchor, what) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-family=\"sans-serif\" font-size=\"13\">%s</text>\n", at, down, anchor, what
}

function line(values, color, name, down,    i) {
    printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", color
    for (i = 1; i <= runs; i++) printf "%s%.1f,%.1f", i == 1 ? "" : " ", x(i), y(values[i])
    print "\"/>"
    for (i = 1; i <= runs; i++) printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x(i), y(values[i]), color
    printf "<rect x=\"640\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", down, color
    text(660, down + 11, "start", name)
}

END {
    top = int(top / 5 + 1) * 5
    bottom = bottom < 0 ? int(bottom / 5 - 1) * 5 : 0
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"940\" height=\"380\" viewBox=\"0 0 940 380\">"
    print "<rect width=\"940\" height=\"380\" fill=\"white\"/>"
    text(470, 22, "middle", "Instructions over native, and new paths, run by run")
    for (i = 1; i <= runs; i++) {
        height = paths[i] * 200 / most
        printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"36\" height=\"%.1f\" fill=\"#dddddd\"/>\n", x(i) - 18, 320 - height, height
        text(x(i), 316 - height, "middle", paths[i])
        text(x(i), 340, "middle", i)
    }
    for (percent = bottom; percent <= top; percent += 5) {
        printf "<line x1=\"70\" x2=\"870\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", y(percent), y(percent), percent == 0 ? "#888888" : "#eeeeee"
        text(62, y(percent) + 4, "end", percent " %")
    }
    line(everything, "#4477aa", "everything counted", 40)
    line(residual, "#ee6677", "new paths only", 60)
    print "<rect x=\"640\" y=\"80\" width=\"12\" height=\"12\" fill=\"#dddddd\"/>"
    text(660, 91, "start", "new paths")
    text(470, 362, "middle", "run")
    print "</svg>"
}
