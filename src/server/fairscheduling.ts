/** Those who wait for something, by whom they work for: an organization's key, or a part of the server. */
export class Queues {
  private readonly queues = new Map<unknown, (() => void)[]>();

  get isEmpty(): boolean {
    return this.queues.size === 0;
  }

  has(owner: unknown): boolean {
    return this.queues.has(owner);
  }

  owners(): unknown[] {
    return [...this.queues.keys()];
  }

  /** Lets the first of the owner whose turn it is go on. */
  releaseNext(): void {
    this.release(this.queues.keys().next().value);
  }

  wait(owner: unknown): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.queues.get(owner);
      if (queue === undefined) this.queues.set(owner, [resolve]);
      else queue.push(resolve);
    });
  }

  /** Lets the first of an owner go on; the owner then comes after all others. */
  release(owner: unknown): void {
    const queue = this.queues.get(owner) ?? [];
    this.queues.delete(owner);
    const first = queue.shift();
    if (queue.length > 0) this.queues.set(owner, queue);
    first?.();
  }
}

const turns = new Queues();

/**
 * Resolves in a turn of the event loop that no other caller gets. Lists, reports and groups of writes await one before
 * each part of their work, so that quick requests wait for one such part at most. Owners get them in turn: however many
 * of one wait, each other one is next but one.
 */
export function fairTurn(owner: unknown): Promise<void> {
  if (turns.isEmpty) setImmediate(nextTurn);
  return turns.wait(owner);
}

function nextTurn(): void {
  turns.releaseNext();
  // Scheduled from here it runs only after everything that has arrived meanwhile.
  if (!turns.isEmpty) setImmediate(nextTurn);
}

/** Requests of one organization that begin in one turn of the event loop. */
const AT_ONCE = 8;

const waiting = new Queues();
/** Requests that have begun in this turn of the event loop, by organization. */
const begun = new Map<unknown, number>();

/**
 * Resolves when a request may begin; undefined where it may at once, as nearly always. An organization with hundreds of
 * connections begins some requests in a turn of the event loop, and the others wait: those of others need not.
 */
export function requestTurn(owner: unknown): Promise<void> | undefined {
  if (begun.size === 0 && waiting.isEmpty) setImmediate(nextRound);
  const count = begun.get(owner) ?? 0;
  if (count >= AT_ONCE || waiting.has(owner)) return waiting.wait(owner);
  begun.set(owner, count + 1);
  return undefined;
}

function nextRound(): void {
  begun.clear();
  for (const owner of waiting.owners()) {
    let count = 0;
    for (; count < AT_ONCE && waiting.has(owner); count++) waiting.release(owner);
    begun.set(owner, count);
  }
  if (begun.size > 0) setImmediate(nextRound);
}
