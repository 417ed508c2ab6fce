/** What is accepted: the largest or the smallest ratio or value. */
export interface Budget {
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Row {
  readonly what: string;
  readonly result: string;
  readonly spread: string;
  readonly verdict: '' | 'kept' | 'MISS';
}

interface Measured {
  readonly what: string;
  readonly unit: string;
}

/** Budgets of a measurement by the names of its figures, in which a star stands for any text. */
export type Budgets = Readonly<Record<string, Budget>>;

export function budgetOf(budgets: Budgets, what: string): Budget | undefined;

export function budgetText(row: { readonly budget: Budget | undefined; readonly unit: string }): string;

export function summary(values: readonly number[]): Record<'median' | 'low' | 'high' | 'least' | 'most', number>;

export class Report {
  constructor(say: (text: string) => void, budgets?: Budgets);
  readonly sections: readonly { readonly title: string; readonly rows: readonly Row[] }[];
  readonly kept: boolean;
  section(title: string, conditions: string): void;
  ratio(
    measured: Measured & { ours: readonly number[]; theirs: readonly number[]; against: string; faster?: boolean },
  ): boolean;
  value(measured: Measured & { values: readonly number[] }): boolean;
  note(text: string): void;
  markdown(name: string, machine: string): string;
}

export function overview(pages: readonly (readonly [name: string, text: string])[]): string;

export function judge(ratios: readonly number[]): {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly verdict: 'costs more' | 'costs less' | 'no difference shown';
  readonly isRegression: boolean;
};
