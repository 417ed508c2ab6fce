/**
 * What has been sent and not all confirmed. Confirms may arrive in any order; what counts is up to where there is no gap:
 * a relay that starts over begins after that.
 */
export class ConfirmWindow<T> {
  /** From index `first` on, in the order in which it was sent. */
  private sent: T[] = [];
  private first = 0;
  private next = 0;
  private readonly done = new Set<number>();

  /** Unsettled: what is in flight, and what was confirmed after something in flight. */
  get size(): number {
    return this.next - this.first;
  }

  /** Something was sent. Returns its index, by which it is confirmed. */
  add(sent: T): number {
    this.sent.push(sent);
    return this.next++;
  }

  /** Returns what is settled by it, in the order in which it was sent. */
  confirm(index: number): readonly T[] {
    this.done.add(index);
    let settled = 0;
    while (this.done.delete(this.first + settled)) settled++;
    this.first += settled;
    return this.sent.splice(0, settled);
  }
}
