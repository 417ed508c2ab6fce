import { Tally } from './budgets/tally.ts';

/** Those who wait for something, by whom they work for: an organization's key, or a part of the server. */
export class Queues {
  private readonly queues = new Map<unknown, (() => void)[]>();

  get isEmpty(): boolean {
    return this.queues.size === 0;
  }

  has(owner: unknown): boolean {
    return this.queues.has(owner);
  }

  /** Those who wait; whose turn it is comes first. */
  owners(): unknown[] {
    return [...this.queues.keys()];
  }

  /** How many of an owner wait. */
  count(owner: unknown): number {
    return this.queues.get(owner)?.length ?? 0;
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

/**
 * Work of which so much may be under way at once, in all and of each owner. Owners whose work waits take turns: however much
 * of one waits, others wait for little of it.
 */
export class FairShares {
  /** Work under way, by owner. */
  readonly working = new Tally<unknown>();
  private readonly queues = new Queues();

  constructor(
    private readonly together: number,
    private readonly each: number,
  ) {}

  /** Whether work of an owner would begin at once. */
  protected isFree(owner: unknown): boolean {
    return this.working.total < this.together && this.working.of(owner) < this.each;
  }

  /** How much work of an owner waits. */
  protected waitingOf(owner: unknown): number {
    return this.queues.count(owner);
  }

  /** Does a piece of work when it is its owner's turn. */
  async run<T>(owner: unknown, work: () => Promise<T>): Promise<T> {
    if (this.isFree(owner)) this.working.add(owner, 1);
    else await this.queues.wait(owner);
    try {
      return await work();
    } finally {
      this.working.add(owner, -1);
      const next = this.queues.owners().find((waiting) => this.isFree(waiting));
      if (next !== undefined) {
        // Counted here, so that nobody who comes in between takes its place.
        this.working.add(next, 1);
        this.queues.release(next);
      }
    }
  }
}

/**
 * What may be done in a turn of the event loop: little while requests of several organizations are served, as each of them
 * waits for what the others do; more for one alone, since what is done in a turn shares a commit.
 */
interface Pace {
  /** Requests of an organization that begin at once; further ones are parts of work. */
  readonly atOnce: number;
  /** Parts of work, and milliseconds after which no further one begins. A request does more at the end of the turn. */
  readonly parts: number;
  readonly partsMs: number;
  /** Milliseconds after which a commit takes no further write. */
  readonly commitMs: number;
}

const ALONE: Pace = { atOnce: 8, parts: 32, partsMs: 4, commitMs: 25 };
const SHARED: Pace = { atOnce: 2, parts: 4, partsMs: 1, commitMs: 2 };

/** How long requests count as those of several organizations, after two of them followed each other. */
const SHARED_MS = 1000;

/** Owners whose turns are remembered: more than there are at once. */
const MAX_SERVED = 10_000;

const parts = new Queues();
const commits = new Queues();
/** Requests that have begun at once in this turn of the event loop, by organization. */
const begun = new Map<unknown, number>();
/** Numbers of the turns that owners had last. */
const served = new Map<unknown, number>();
let turn = 0;
let isScheduled = false;
let latest: unknown;
let changed = Number.NEGATIVE_INFINITY;

/** Whether requests of several organizations are served, rather than those of one alone. */
export function isShared(): boolean {
  return performance.now() - changed < SHARED_MS;
}

function pace(): Pace {
  return isShared() ? SHARED : ALONE;
}

/**
 * Resolves when a part of work may be done: lists and reports await that before each part, and so do requests that may not
 * begin at once. While several organizations are served, a turn of the event loop has parts of one of them alone, of that
 * which has had none for longest: however much one asks for, the others are next.
 */
export function fairTurn(owner: unknown): Promise<void> {
  schedule();
  return parts.wait(owner);
}

/** Maps items, so many in a part of work: a list of tens of thousands holds up nobody. */
export async function mapInTurns<T, R>(
  owner: unknown,
  items: readonly T[],
  perTurn: number,
  map: (item: T) => R,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += perTurn) {
    await fairTurn(owner);
    for (const item of items.slice(at, at + perTurn)) results.push(map(item));
  }
  return results;
}

/** In this order: entries of reads are written quickly, and their answers wait for nothing else. */
const COMMITS = ['reads', 'writes'] as const;

/** What a commit at the end of a turn is of. */
export type CommitOf = (typeof COMMITS)[number];

/** Resolves at the end of a turn of the event loop: what has been done in it is committed together. */
export function endOfTurn(of: CommitOf): Promise<void> {
  schedule();
  return commits.wait(of);
}

/**
 * Resolves when a request may begin; undefined where it may at once, as nearly always. Of an organization with hundreds of
 * connections a few requests begin in a turn of the event loop, and the others wait: those of others need not.
 */
export function requestTurn(owner: unknown): Promise<void> | undefined {
  if (latest !== undefined && latest !== owner) changed = performance.now();
  latest = owner;
  const count = begun.get(owner) ?? 0;
  if (count >= pace().atOnce || parts.has(owner)) return fairTurn(owner);
  begun.set(owner, count + 1);
  schedule();
  return undefined;
}

/** Whether a commit has taken writes for so long, since a time of the process's clock, that others wait for the next. */
export function isFull(since: number): boolean {
  return performance.now() - since > pace().commitMs;
}

/** Scheduled from within a turn, the next one runs after everything that has arrived meanwhile. */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(doParts);
  setImmediate(doCommits);
}

function doParts(): void {
  const { parts: most, partsMs } = pace();
  const until = performance.now() + partsMs;
  const only = isShared() ? nextOwner() : undefined;
  begun.clear();
  let left = most;
  oneByOne(() => {
    const owner = only ?? parts.owners()[0];
    if (!parts.has(owner) || left-- === 0 || performance.now() > until) return false;
    parts.release(owner);
    return true;
  });
}

/** Whose turn it is: those whose request has begun at once have theirs in that. */
function nextOwner(): unknown {
  const owners = [...begun.keys(), ...parts.owners()];
  const owner = owners.reduce(
    (first, other) => ((served.get(other) ?? 0) < (served.get(first) ?? 0) ? other : first),
    owners[0],
  );
  if (served.size >= MAX_SERVED) served.clear();
  served.set(owner, ++turn);
  return owner;
}

function doCommits(): void {
  isScheduled = false;
  const ready = COMMITS.filter((each) => commits.has(each));
  oneByOne(() => {
    const next = ready.shift();
    if (next === undefined) {
      if (!parts.isEmpty || !commits.isEmpty) schedule();
      return false;
    }
    commits.release(next);
    return true;
  });
}

/** Takes step after step until one says that there is none; each is done, if it waits for nothing, before the next. */
function oneByOne(step: () => boolean): void {
  if (step()) queueMicrotask(() => process.nextTick(oneByOne, step));
}
