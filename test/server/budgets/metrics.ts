import type { TestService } from '../../support/service.ts';

/** What GET /metrics tells of budgets: its text, and the numbers of one. */
export async function budgetMetrics(service: TestService) {
  const { text } = await service.call('GET', '//metrics', { token: null, organization: null });
  const number = (name: string, budget: string) => {
    const found = new RegExp(`^${name}\\{budget="${budget}"\\} (\\S+)$`, 'm').exec(text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  return {
    text,
    of: (budget: string) => ({
      limit: number('molar_budget_limit', budget),
      used: number('molar_budget_used', budget),
      refused: number('molar_budget_refused_total', budget),
    }),
  };
}
