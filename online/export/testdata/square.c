/* squared-error loss, 3 features, 2 elements: written by runall export-model --to c.
   Compile as C99 and link with -lm. Declarations for other files:
     float polk_predict(const float x[3]);  the predicted value of a row
     void polk_scores(const float x[3], float f[1]);  the values of the functions

   Flash: 44 bytes of constants, and the code. RAM: some 112 bytes of stack, nothing else. */

#include <math.h>
#ifdef __AVR__
#include <avr/pgmspace.h>
#define POLK_FLASH PROGMEM
#define POLK_FLOAT(v) pgm_read_float(&(v))
#define POLK_BYTE(v) ((signed char)pgm_read_byte(&(v)))
#define POLK_SHORT(v) pgm_read_word(&(v))
#else
#define POLK_FLASH
#define POLK_FLOAT(v) (v)
#define POLK_BYTE(v) (v)
#define POLK_SHORT(v) (v)
#endif

static const unsigned short used[2] POLK_FLASH = {
	0,
	2,
};
static const float shift[2] POLK_FLASH = {
	10.0f,
	10.0f,
};
static const float factor[2] POLK_FLASH = {
	0.5f,
	0.5f,
};
static const float elements[2][2] POLK_FLASH = {
	{0.1f,-1.0f,},
	{1.0f,2.5f,},
};
static const float weights[2][1] POLK_FLASH = {
	{0.33333334f,},
	{-0.6666667f,},
};

void polk_scores(const float x[3], float f[1])
{
	float u[2];
	for (int i = 0; i < 2; i++)
		u[i] = (x[POLK_SHORT(used[i])] - POLK_FLOAT(shift[i])) * POLK_FLOAT(factor[i]);
	for (int k = 0; k < 1; k++)
		f[k] = 0;
	for (int j = 0; j < 2; j++) {
		float s = 0;
		for (int i = 0; i < 2; i++) {
			float d = u[i] - POLK_FLOAT(elements[j][i]);
			s += d * d;
		}
		s = expf(-0.125f * s);
		for (int k = 0; k < 1; k++)
			f[k] += s * POLK_FLOAT(weights[j][k]);
	}
}

float polk_predict(const float x[3])
{
	float f[1];
	polk_scores(x, f);
	return f[0] / 0.25f + 7.0f;
}
