import type { ServerResponse } from 'node:http';
import { OverBudget } from './overbudget.ts';

/** An answer that its reader has not taken yet. */
export interface HeldAnswer {
  /** Says how large the body is that is about to be sent. Throws `OverBudget` when there is no room for it. */
  prepare(bytes: number): void;
}

interface OpenAnswer {
  readonly response: ServerResponse;
  /** Bytes of the body, until it is sent. */
  prepared: number;
}

/**
 * Bytes of answers that the readers of each organization have not taken yet: lists, reports, files and streams. Of what is
 * sent, only what waits in this process counts; what the system has accepted is on its way. An answer larger than the
 * budget is sent when nothing else waits.
 */
export class AnswerBytes {
  private readonly open = new Map<number, Set<OpenAnswer>>();

  constructor(readonly limit: number) {}

  /** Counts an answer until its connection is done with it. Throws `OverBudget` when the budget is used up already. */
  begin(org: number, response: ServerResponse): HeldAnswer {
    if (this.usedBy(org) >= this.limit) throw new OverBudget('answer-bytes');
    const answer: OpenAnswer = { response, prepared: 0 };
    const answers = this.open.get(org) ?? new Set();
    this.open.set(org, answers.add(answer));
    response.on('close', () => {
      answers.delete(answer);
      if (answers.size === 0 && this.open.get(org) === answers) this.open.delete(org);
    });
    return {
      prepare: (bytes) => {
        const used = this.usedBy(org);
        if (used > 0 && used + bytes > this.limit) throw new OverBudget('answer-bytes');
        answer.prepared = bytes;
      },
    };
  }

  usedBy(org: number): number {
    let bytes = 0;
    for (const { response, prepared } of this.open.get(org) ?? []) {
      bytes += response.headersSent ? response.writableLength : prepared;
    }
    return bytes;
  }

  /** What the organization with the most has. */
  get most(): number {
    return Math.max(0, ...[...this.open.keys()].map((org) => this.usedBy(org)));
  }
}
