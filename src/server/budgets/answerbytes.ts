import type { ServerResponse } from 'node:http';
import { OverBudget } from './overbudget.ts';
import { Tally } from './tally.ts';

/** An answer that its reader has not taken yet. */
export interface HeldAnswer {
  /** Says how large the body is that is about to be sent. Throws `OverBudget` when there is no room for it. */
  prepare(bytes: number): void;
}

/** How many times what one organization may have all may have together. */
const TOGETHER = 1.5;

/**
 * Bytes of answers that the readers of each organization have not taken yet: lists, reports, files and streams. A body
 * counts until it is taken; of what is sent piece by piece only what waits in this process counts, which is little. An
 * answer larger than the budget is sent when nothing else of its organization waits. All organizations have a bound
 * together, of which always something is left to those who have nothing yet.
 */
export class AnswerBytes {
  /** Bytes of bodies. */
  private readonly bodies = new Tally<number>();
  /** Answers whose size nobody knows. */
  private readonly streams = new Map<number, Set<ServerResponse>>();

  constructor(readonly limit: number) {}

  /** Counts an answer until its connection is done with it. Throws `OverBudget` when the budget is used up already. */
  begin(org: number, response: ServerResponse): HeldAnswer {
    if (this.usedBy(org) >= this.limit || this.bodies.total >= this.limit * TOGETHER) {
      throw new OverBudget('answer-bytes');
    }
    const sent = this.streams.get(org) ?? new Set();
    this.streams.set(org, sent.add(response));
    let body = 0;
    let isOpen = true;
    const count = (bytes: number) => {
      sent.delete(response);
      if (sent.size === 0 && this.streams.get(org) === sent) this.streams.delete(org);
      this.bodies.add(org, bytes - body);
      body = bytes;
    };
    response.on('close', () => {
      isOpen = false;
      count(0);
    });
    return {
      prepare: (size) => {
        // One that is larger than the budget uses that up, and takes nothing from the others.
        const bytes = Math.min(size, this.limit);
        if (!this.hasRoom(org, bytes)) throw new OverBudget('answer-bytes');
        if (isOpen) count(bytes);
      },
    };
  }

  usedBy(org: number): number {
    let bytes = this.bodies.of(org);
    for (const { headersSent, writableLength } of this.streams.get(org) ?? [])
      bytes += headersSent ? writableLength : 0;
    return bytes;
  }

  /** What the organization with the most has. */
  get most(): number {
    return Math.max(this.bodies.most, ...[...this.streams.keys()].map((org) => this.usedBy(org)));
  }

  /** Whoever has something already may have twice what is left over: alone that is the limit, and beside others less. */
  private hasRoom(org: number, bytes: number): boolean {
    const used = this.usedBy(org);
    const left = this.limit * TOGETHER - this.bodies.total - bytes;
    return used === 0 ? left >= 0 : used + bytes <= Math.min(this.limit, 2 * left);
  }
}
