import { getHeapStatistics } from 'node:v8';

/** Bytes that may be held of what is read as a whole: it is there once, and copied in parts. Node takes its heap from the memory of the container. */
export const mostWhole = getHeapStatistics().heap_size_limit / 4;
