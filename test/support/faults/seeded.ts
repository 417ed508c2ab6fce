/** Numbers from 0 up to 1 that are the same for the same seed, on every machine (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Seeds of a test, from 1: a few, or as many as `npm run test:faults` asks for. */
export function seeds(few: number): number[] {
  return Array.from({ length: Number(process.env.MOLAR_FAULT_RUNS ?? few) }, (_, at) => at + 1);
}
