/** How much of one thing each holder has. */
export class Tally<Holder> {
  private readonly held = new Map<Holder, number>();
  /** What all holders have together. */
  total = 0;

  of(holder: Holder): number {
    return this.held.get(holder) ?? 0;
  }

  /** Gives a holder more, or takes some with a negative number. */
  add(holder: Holder, change: number): void {
    const now = this.of(holder) + change;
    this.total += change;
    if (now > 0) this.held.set(holder, now);
    else this.held.delete(holder);
  }

  /** What the holder with the most has. */
  get most(): number {
    return Math.max(0, ...this.held.values());
  }
}
