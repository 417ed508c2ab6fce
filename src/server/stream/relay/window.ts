/**
 * Messages that have been sent and not all confirmed. Confirms may come in any order; what counts is how far there is
 * no gap: a relay that starts over begins behind that.
 */
export class ConfirmWindow {
  /** Everything up to this message number has been confirmed. */
  confirmed: number;
  /** Numbers of the messages from place `first` on, in the order in which they were sent. */
  private sent: number[] = [];
  private first = 0;
  private next = 0;
  private readonly done = new Set<number>();

  constructor(confirmed: number) {
    this.confirmed = confirmed;
  }

  /** Messages that are not settled: those in flight, and those confirmed behind one in flight. */
  get size(): number {
    return this.next - this.first;
  }

  /** A message was sent. Gives its place, by which it is confirmed: several may have one number. */
  add(id: number): number {
    this.sent.push(id);
    return this.next++;
  }

  confirm(place: number): void {
    this.done.add(place);
    let settled = 0;
    while (this.done.delete(this.first)) {
      this.confirmed = this.sent[settled++] as number;
      this.first++;
    }
    if (settled > 0) this.sent = this.sent.slice(settled);
  }
}
