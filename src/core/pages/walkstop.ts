/** Stops the requests of a walk: when the walk ends, or when the caller's signal is aborted. */
export class WalkStop {
  private readonly controller = new AbortController();
  private readonly outer: AbortSignal | undefined;

  constructor(outer: AbortSignal | undefined) {
    this.outer = outer;
    outer?.addEventListener('abort', this.relay, { once: true });
    if (outer?.aborted) this.relay();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The walk has ended: aborts what is still being asked for, and leaves the caller's signal alone. */
  end(): void {
    this.outer?.removeEventListener('abort', this.relay);
    this.controller.abort(new Error('The walk has ended.'));
  }

  private readonly relay = () => this.controller.abort(this.outer?.reason);
}
