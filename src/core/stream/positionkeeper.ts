/**
 * Saves how far a listener came: at once, or at most every `pause` milliseconds, since a save waits for the disk. One
 * save at a time, the newest position last.
 */
export class PositionSaver {
  private readonly save: (position: number) => Promise<void>;
  private readonly pause: number;
  private position: number | undefined;
  private saved: number | undefined;
  private saving: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private problem: { readonly cause: unknown } | undefined;

  constructor(save: (position: number) => Promise<void>, pause: number) {
    this.save = save;
    this.pause = pause;
  }

  /** Where a listener begins that has no position yet: saved at once, since without it the next start begins elsewhere. */
  async start(position: number): Promise<void> {
    this.position = position;
    await this.flush();
  }

  /** Everything up to this message is dealt with. Rejects when a save failed, this one or an earlier one. */
  async advance(position: number): Promise<void> {
    this.position = position;
    if (this.pause === 0) return this.flush();
    if (this.problem !== undefined) throw this.problem.cause;
    this.timer ??= setTimeout(() => {
      this.flush().catch((cause: unknown) => {
        this.problem = { cause };
      });
    }, this.pause);
  }

  /** Saves what is not saved yet. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const saving = this.saving.catch(() => undefined).then(() => this.saveNewest());
    this.saving = saving;
    return saving;
  }

  private async saveNewest(): Promise<void> {
    const { position } = this;
    if (position === undefined || position === this.saved) return;
    await this.save(position);
    this.saved = position;
  }
}
