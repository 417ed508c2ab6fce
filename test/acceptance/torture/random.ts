import { seeded } from '../../support/faults/seeded.ts';

/** Choices that look random and are the same for the same seed. */
export class Random {
  /** At least 0, below 1. */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seeded(seed);
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}
