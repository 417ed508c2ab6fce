/**
 * Messages that have been sent and not all confirmed. Confirms may arrive in any order; what counts is up to where there
 * is no gap: a relay that starts over begins after that.
 */
export class ConfirmWindow {
  /** Numbers of the messages from index `first` on, in the order in which they were sent. */
  private sent: number[] = [];
  private first = 0;
  private next = 0;
  private readonly done = new Set<number>();

  constructor(/** Everything up to this message number has been confirmed. */ public confirmed: number) {}

  /** Unsettled messages: those in flight, and those confirmed after one in flight. */
  get size(): number {
    return this.next - this.first;
  }

  /** A message was sent. Returns its index, by which it is confirmed: several may have the same number. */
  add(id: number): number {
    this.sent.push(id);
    return this.next++;
  }

  confirm(index: number): void {
    this.done.add(index);
    let settled = 0;
    while (this.done.delete(this.first)) {
      this.confirmed = this.sent[settled++] as number;
      this.first++;
    }
    if (settled > 0) this.sent = this.sent.slice(settled);
  }
}
