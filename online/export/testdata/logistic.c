/* binary-logistic loss, 3 features, 2 classes, 2 elements: written by runall export-model --to c.
   Compile as C99 and link with -lm. Declarations for other files:
     int polk_predict(const float x[3]);  the class of a row, an index into polk_labels
     extern const char polk_labels[2][4];  on AVR in flash, for strcpy_P and its like
     void polk_scores(const float x[3], float f[1]);  the values of the functions
     int polk_probabilities(const float x[3], float p[2]);  the class, and the probabilities of all

   Flash: 40 bytes of constants, and the code. RAM: some 116 bytes of stack, nothing else. */

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

static const float elements[2][3] POLK_FLASH = {
	{0.1f,0.0f,-1.0f,},
	{1.0f,0.0f,2.5f,},
};
static const float weights[2][1] POLK_FLASH = {
	{0.33333334f,},
	{-0.6666667f,},
};
const char polk_labels[2][4] POLK_FLASH = {
	"no",
	"yes",
};

void polk_scores(const float x[3], float f[1])
{
	float u[3];
	for (int i = 0; i < 3; i++)
		u[i] = x[i];
	for (int k = 0; k < 1; k++)
		f[k] = 0;
	for (int j = 0; j < 2; j++) {
		float s = 0;
		for (int i = 0; i < 3; i++) {
			float d = u[i] - POLK_FLOAT(elements[j][i]);
			s += d * d;
		}
		s = expf(-0.125f * s);
		for (int k = 0; k < 1; k++)
			f[k] += s * POLK_FLOAT(weights[j][k]);
	}
}

static int polk_class(const float f[1])
{
	return f[0] >= 0;
}

int polk_predict(const float x[3])
{
	float f[1];
	polk_scores(x, f);
	return polk_class(f);
}

int polk_probabilities(const float x[3], float p[2])
{
	float f[1];
	polk_scores(x, f);
	p[0] = 1 / (1 + expf(f[0]));
	p[1] = 1 / (1 + expf(-f[0]));
	return polk_class(f);
}
