import { Failure, localFailure } from '../failure.ts';
import type { Clock } from './exchange.ts';

/** A POST that may have been done, as a look-up has to know it. */
export interface Posted {
  /** Milliseconds that have passed here since its first attempt began. */
  readonly elapsed: () => number;
  readonly signal?: AbortSignal;
}

/**
 * Looks on the server for what a POST of unknown outcome would have made (D49): the `data` it would have answered, or
 * undefined when it is not there, so that the POST may be sent again. Throws a Failure when that cannot be found out.
 */
export type LookUp = (posted: Posted) => Promise<unknown>;

/** Looks for a second record once a POST has succeeded after an attempt that may have been done as well. */
export type LookBack = (posted: Posted) => Promise<void>;

/** What finds out about a POST of unknown outcome. */
export interface Looks {
  readonly lookUp?: LookUp;
  readonly lookBack?: LookBack;
}

/** Whether a write was done, as far as that is known (D49). */
export class Doubt {
  /** It was done: what it made. */
  found: { readonly data: unknown } | undefined;
  /** It cannot be found out; `look` is why a look-up failed, undefined where there is none. */
  unknown: { readonly look: Failure | undefined } | undefined;
  private isOpen = false;
  private readonly looks: Looks;
  private readonly posted: Posted;

  constructor(clock: Clock, looks: Looks, signal: AbortSignal | undefined) {
    const began = clock.now();
    this.looks = looks;
    this.posted = { elapsed: () => clock.now() - began, ...(signal && { signal }) };
  }

  /** It must not be sent again: it was done, or that cannot be found out. */
  get isSettled(): boolean {
    return this.found !== undefined || this.unknown !== undefined;
  }

  open(): void {
    this.isOpen = true;
    if (this.looks.lookUp === undefined) this.unknown = { look: undefined };
  }

  /** Looks for what was written, where that is in doubt. */
  async look(): Promise<void> {
    if (!this.isOpen || this.looks.lookUp === undefined || this.isSettled) return;
    try {
      const data = await this.looks.lookUp(this.posted);
      if (data !== undefined) this.found = { data };
    } catch (cause) {
      if (!(cause instanceof Failure) || this.posted.signal?.aborted) throw cause;
      this.unknown = { look: cause };
    }
  }

  /** Looks once more after a success, where an attempt before it is in doubt. The success stands whatever comes of it. */
  async lookBack(): Promise<void> {
    if (!this.isOpen) return;
    try {
      await this.looks.lookBack?.(this.posted);
    } catch (cause) {
      if (!(cause instanceof Failure) && !this.posted.signal?.aborted) throw cause;
    }
  }
}

/**
 * The failure of a write that may have been done (D49): `failure` is what came of it, `look` why the server could not
 * be asked whether it is there.
 */
export function outcomeUnknown(failure: Failure, look?: Failure): Failure {
  const why = look === undefined ? '' : ` Looking for it did not tell: ${look.message}`;
  return localFailure('network.outcome_unknown', `${failure.message} It may have been done.${why}`, {
    requestId: failure.requestId,
    cause: failure,
    ...(look?.code === 'network.outcome_unknown' && look.hint !== null && { hint: look.hint }),
  });
}
