/* Starts a program for semihosting on QEMU's mps2-an386, a Cortex-M4, with its floating-point unit. */
extern void _start(void);
static void start(void)
{
	*(volatile unsigned *)0xE000ED88 |= 0xF << 20;
	_start();
}
__attribute__((section(".vectors"), used)) static void (*const vectors[2])(void) = {(void (*)(void))0x20300000, start};
