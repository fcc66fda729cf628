/* What the shared library has. */
#ifdef __cplusplus
extern "C" {
#endif
int shape_area(int kind, int a, int b);
#ifdef __cplusplus
}
#endif
