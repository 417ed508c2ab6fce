/** A 32-bit hash of a text; equal texts have equal hashes on every machine. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Random draws that a seed repeats. */
export class Draws {
  private state: number;

  constructor(seed: string) {
    this.state = hashOf(seed);
  }

  /** At least 0, below 1. */
  readonly fraction = (): number => {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A whole number, both ends included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  one<T>(list: readonly T[]): T {
    return list[this.whole(0, list.length - 1)] as T;
  }

  /** The list in another order. */
  shuffled<T>(list: readonly T[]): T[] {
    const left = [...list];
    for (let last = left.length - 1; last > 0; last--) {
      const other = this.whole(0, last);
      [left[last], left[other]] = [left[other] as T, left[last] as T];
    }
    return left;
  }
}
