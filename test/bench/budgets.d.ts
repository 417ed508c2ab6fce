import type { Budgets } from './results.js';

/** Budgets of each measurement, by its name. */
export const BUDGETS: Readonly<Record<string, Budgets>>;
