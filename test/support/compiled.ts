/** For a program whose environment a test makes itself: it is compiled once for all starts. */
export const compiledEnv = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };
