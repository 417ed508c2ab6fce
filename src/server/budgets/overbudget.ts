import { Refusal } from '../../catalog/failures.ts';

/** Budgets over which a request is refused with 429, as `source` of the refusal names them. */
export type RequestBudget = 'async' | 'answer-bytes' | 'images';

/** Seconds after which a refused request may be sent again: images and deliveries take about as long. */
const RETRY_SECONDS = 2;

const DESCRIPTIONS: Readonly<Record<RequestBudget, string>> = {
  async: 'Too many async deliveries of this token are unfinished: wait until one is complete.',
  'answer-bytes': 'Too many bytes of answers wait to be read by callers of this organization: read them first.',
  images: 'Too many images of this organization wait to be worked on: wait until some are done.',
};

/** The refusal (429) of a request whose organization or token holds too much already (contract §8). */
export class OverBudget extends Refusal {
  /** Until the request may be sent again: `Retry-After`. */
  readonly seconds = RETRY_SECONDS;

  constructor(readonly budget: RequestBudget) {
    super([{ code: 'limit.budget', source: budget, description: DESCRIPTIONS[budget] }]);
  }
}
