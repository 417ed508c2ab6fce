import { EXIT } from '../../catalog/failures.ts';
import { id } from '../../catalog/fields/numbers.ts';
import { choice, text } from '../../catalog/fields/text.ts';
import { readOnly } from '../../catalog/record.ts';
import { CircuitBreaker, notTried } from '../../core/circuitbreaker.ts';
import { exitCodeOfRun } from '../../core/documents/outcome.ts';
import { Failure } from '../../core/failure.ts';

/** The outcome for one record; `missing`: there was none of that id. */
export interface Deletion {
  readonly id: number;
  readonly status: 'deleted' | 'missing' | 'failed';
  readonly error: string | null;
}

/** `Deletion` as output knows it. */
export const deletionFields = {
  id: readOnly(id(), 'Id of the record'),
  status: readOnly(choice(['deleted', 'missing', 'failed']), 'Outcome'),
  error: readOnly(text(), 'Why it was not deleted'),
} as const;

/** Deletes records one after another and collects failures: a record that fails does not end the run. */
export class DeletionRun {
  /** Records that are gone now. */
  deleted = 0;
  private readonly failed: { readonly id: number; readonly failure: Failure }[] = [];
  private readonly breaker = new CircuitBreaker();

  /** The outcome of each id in order; `remove` throws a Failure for a record that stays. The circuit breaker skips the rest. */
  async *over(ids: readonly number[], remove: (id: number) => Promise<boolean>, signal: AbortSignal) {
    for (const id of ids) {
      signal.throwIfAborted();
      yield await this.one(id, remove, signal);
    }
  }

  /** The failure that the run ends with (contract §4), undefined when all are gone. `many`: what the records are called. */
  failure(many: string): Failure | undefined {
    const [first] = this.failed;
    if (first === undefined) return undefined;
    const total = this.failed.length + this.deleted;
    const codes = [...this.failed.map(({ failure }) => failure.exitCode), ...(this.deleted > 0 ? [EXIT.done] : [])];
    const exitCode = exitCodeOfRun(codes);
    const isOneCause = exitCode === first.failure.exitCode;
    return new Failure(`${this.failed.length} of ${total} ${many} not deleted.`, {
      code: isOneCause ? first.failure.code : 'run.partial',
      exitCode,
      items: this.failed.map(({ id, failure }) => ({
        code: failure.code,
        source: String(id),
        description: failure.message,
      })),
      hint: isOneCause
        ? first.failure.hint
        : 'Run the failed ids again; --ignore-missing passes over those that are gone.',
    });
  }

  private async one(id: number, remove: (id: number) => Promise<boolean>, signal: AbortSignal): Promise<Deletion> {
    try {
      if (this.breaker.cause !== undefined) throw notTried(this.breaker.cause);
      const wasThere = await remove(id);
      this.breaker.record(undefined);
      this.deleted++;
      return { id, status: wasThere ? 'deleted' : 'missing', error: null };
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof Failure)) throw cause;
      this.breaker.record(cause);
      this.failed.push({ id, failure: cause });
      return { id, status: cause.status === 404 ? 'missing' : 'failed', error: cause.message };
    }
  }
}
