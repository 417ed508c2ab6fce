/** A list that several look at: those that ask while one is being read share the next one, never one begun before. */
export class Listing<T> {
  private readonly read: () => Promise<readonly T[]>;
  private running: Promise<void> | undefined;
  private next: Promise<readonly T[]> | undefined;

  constructor(read: () => Promise<readonly T[]>) {
    this.read = read;
  }

  fresh(): Promise<readonly T[]> {
    this.next ??= this.afterOthers();
    return this.next;
  }

  private async afterOthers(): Promise<readonly T[]> {
    await this.running;
    this.next = undefined;
    const reading = this.read();
    this.running = reading.then(
      () => undefined,
      () => undefined,
    );
    return reading;
  }
}
