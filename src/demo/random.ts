/** Deterministic numbers: the sfc32 generator, the same on every machine for the same seeds. Not for secrets. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Three 32-bit seeds, such as the practice's seed, a number for the purpose and the index of what is generated. */
  constructor(first: number, second: number, third: number) {
    this.#a = first | 0;
    this.#b = second | 0;
    this.#c = third | 0;
    for (let round = 0; round < 15; round++) this.next();
  }

  /** A number from 0 to below 1. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  }

  /** An integer from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** One of a weighted choice. */
  weighted<T>(choice: Weighted<T>): T {
    const at = this.next() * choice.total;
    const found = choice.steps.findIndex((step) => at < step);
    return choice.values[Math.max(found, 0)] as T;
  }
}

/** Values with running totals of their weights. */
export interface Weighted<T> {
  readonly values: readonly T[];
  readonly steps: readonly number[];
  readonly total: number;
}

/** Prepares a weighted choice of names. */
export function weightedNames<const K extends string>(shares: Readonly<Record<K, number>>): Weighted<K> {
  return weights(Object.entries<number>(shares) as [K, number][]);
}

/** Prepares a weighted choice from pairs of a value and its weight. */
export function weights<const T>(pairs: readonly (readonly [T, number])[]): Weighted<T> {
  let total = 0;
  const steps = pairs.map(([, weight]) => {
    total += weight;
    return total;
  });
  return { values: pairs.map(([value]) => value), steps, total };
}
