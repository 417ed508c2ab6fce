import type { Socket } from 'node:net';
import type { Metric } from '../metrics/route.ts';
import type { Reader } from '../store/store.ts';
import { AnswerBytes } from './answerbytes.ts';
import { ConnectionBudget, type Decision } from './connectionbudget.ts';
import { DeliveryBudget } from './deliverybudget.ts';
import { ImageTurns } from './imageturns.ts';
import type { BudgetLimits } from './limits.ts';
import type { RequestBudget } from './overbudget.ts';

/** Every budget of a server: as the refusals and the metrics name them. */
type BudgetName = RequestBudget | 'image-pixels' | 'connections';

/** What one process of several has of the budgets of their server. */
export interface BudgetPart {
  /** Fraction of the bytes of answers; all parts together are 1 at most. */
  readonly answers: number;
  /** The turns of all processes, where more than this one works on images. */
  readonly images?: ImageTurns;
  /** What to do about a connection. */
  readonly decide: (socket: Socket) => Decision;
  /** Whether it tells what is counted in the store. */
  readonly tellsStore: boolean;
}

const ALL: BudgetPart = { answers: 1, decide: () => 'count', tellsStore: true };

/** The budgets of a server (contract §8), or what a process has of them. */
export class Budgets {
  readonly deliveries: DeliveryBudget;
  readonly answers: AnswerBytes;
  readonly images: ImageTurns;
  readonly connections: ConnectionBudget;
  private readonly refusals = new Map<BudgetName, number>();

  constructor(
    readonly limits: BudgetLimits,
    private readonly part = ALL,
  ) {
    this.deliveries = new DeliveryBudget(limits.deliveries);
    this.answers = new AnswerBytes(Math.floor(limits.answerBytes * part.answers));
    this.images = part.images ?? new ImageTurns(limits.images);
    this.connections = new ConnectionBudget(limits.connections, part.decide);
  }

  /** Counts a refusal. */
  refused(budget: BudgetName): void {
    this.refusals.set(budget, (this.refusals.get(budget) ?? 0) + 1);
  }

  /** What GET /metrics tells of them; names of organizations are not in it. */
  metrics(read: Reader): Metric[] {
    const { limits } = this;
    const limitOf: Readonly<Record<BudgetName, number>> = {
      async: limits.deliveries,
      'answer-bytes': limits.answerBytes,
      images: limits.images,
      'image-pixels': limits.imagePixels,
      connections: limits.connections,
    };
    const names = Object.keys(limitOf) as BudgetName[];
    const of = (value: (name: BudgetName) => number) => new Map(names.map((name) => [name, value(name)]));
    return [
      {
        name: 'molar_budget_limit',
        help: 'How much each may have at once.',
        kind: 'gauge',
        label: 'budget',
        across: 'max',
        read: () => of((name) => limitOf[name]),
      },
      {
        name: 'molar_budget_used',
        help: 'What whoever has the most has now.',
        kind: 'gauge',
        label: 'budget',
        read: async () =>
          new Map([
            ['async', this.part.tellsStore ? await this.deliveries.most(read) : 0],
            ['answer-bytes', this.answers.most],
            ['images', this.images.working.most],
            ['connections', this.connections.open.total],
          ]),
      },
      {
        name: 'molar_budget_refused_total',
        help: 'What was refused because it went over a budget.',
        kind: 'counter',
        label: 'budget',
        read: () => of((name) => this.refusals.get(name) ?? 0),
      },
    ];
  }
}
