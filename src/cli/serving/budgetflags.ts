import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, wholeNumber } from '../flags/values.ts';

const { whole } = flagGroup();

type BudgetLimits = import('../../server/budgets/limits.ts').BudgetLimits;

/** Flags of `molar serve` for what each organization, token and address may hold at once (contract §8). */
export const budgetFlags = {
  'max-async': whole('N', 'Unfinished async deliveries of each organization and token, 4 when not given'),
  'max-answer-bytes': whole(
    'MB',
    'Answers of each organization that wait to be read, in MiB, 64 when not given; 1.5 times as much of all together',
  ),
  'max-images': whole('N', 'Images of each organization worked on at once, 2 when not given; 32 more wait their turn'),
  'max-image-pixels': whole('MP', 'Largest image that is worked on, in millions of pixels, 50 when not given'),
  'max-connections': whole(
    'N',
    'Connections, 1000 when not given; a quarter at most from one address but this machine',
  ),
};

/** The budgets that were given; the server has its own for the others. Throws a Failure (exit 2). */
export function readBudgets(flags: FlagValues): Partial<BudgetLimits> {
  const given = (budget: keyof BudgetLimits, name: keyof typeof budgetFlags, max: number, unit = 1) => {
    const value = wholeNumber(flags, name, 1, max);
    return value === undefined ? {} : { [budget]: value * unit };
  };
  return {
    ...given('deliveries', 'max-async', 1_000_000),
    ...given('answerBytes', 'max-answer-bytes', 1_000_000, 1024 * 1024),
    ...given('images', 'max-images', 1000),
    ...given('imagePixels', 'max-image-pixels', 10_000, 1_000_000),
    ...given('connections', 'max-connections', 1_000_000),
  };
}
