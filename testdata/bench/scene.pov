// What the benchmark renders: reflections, textures, CSG, a blob.
#version 3.7;
global_settings { assumed_gamma 1.0 max_trace_level 6 }
camera { location <0, 3, -9> look_at <0, 1, 0> angle 50 }
light_source { <10, 20, -15> color rgb 1 }
light_source { <-12, 8, -6> color rgb <0.4, 0.4, 0.5> }
plane { y, 0 pigment { checker color rgb 0.9 color rgb <0.2, 0.3, 0.5> scale 1.3 } finish { reflection 0.25 } }
#declare I = 0;
#while (I < 40)
  #declare A = I * 0.7;
  sphere { <4 * cos(A) * (1 - I / 60), 0.35 + I * 0.08, 4 * sin(A) * (1 - I / 60)>, 0.35
    pigment { color rgb <I / 40, 0.5, 1 - I / 40> } finish { phong 0.8 reflection 0.15 } }
  #declare I = I + 1;
#end
difference {
  box { <-1, 0, -1>, <1, 2, 1> }
  sphere { <0, 1, 0>, 1.25 }
  pigment { granite scale 0.6 } normal { bumps 0.3 scale 0.2 } finish { specular 0.4 }
}
torus { 1.6, 0.25 rotate x * 60 translate y * 1.4 pigment { marble turbulence 0.8 } finish { ambient 0.1 diffuse 0.8 } }
blob { threshold 0.6 sphere { <-2.5, 1, 0>, 1, 1 } sphere { <-2.5, 1.7, 0.4>, 0.9, 1 } pigment { rgb <1, 0.8, 0.2> } }
