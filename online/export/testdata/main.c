/* Reads rows of P floats from standard input. Prints the prediction of each, and K scores or probabilities. */
#include MODEL
#include <stdio.h>
int main(void)
{
	float x[P], f[K];
	while (fread(x, sizeof x, 1, stdin) == 1) {
		POLK_VALUES(x, f);
#ifdef L
		printf("%s", polk_labels[polk_predict(x)]);
#else
		printf("%.9g", (double)polk_predict(x));
#endif
		for (int k = 0; k < K; k++)
			printf(" %.9g", (double)f[k]);
		printf("\n");
	}
	return 0;
}
