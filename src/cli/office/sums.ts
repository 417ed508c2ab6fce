import { Failure, LOCAL_FAILURES } from '../../core/failure.ts';
import type { Agreement, Sums } from '../../core/office/agreement.ts';
import type { OfficeCheck } from '../../core/office/result.ts';
import { usdText } from '../../core/reports/money.ts';

/**
 * What was read, once more where its sums do not agree: something may have been entered between two requests. Throws a
 * Failure (exit 8) when they still do not.
 */
export async function agreeing<T extends { readonly check: Agreement }>(
  read: (isAgain: boolean) => Promise<T>,
): Promise<Omit<T, 'check'> & { readonly check: OfficeCheck }> {
  const first = await read(false);
  const { check, ...rest } = first.check.agrees ? first : await read(true);
  const { disagreeing, problems, ...plain } = check;
  if (check.agrees) return { ...rest, check: plain };
  throw notAgreeing(disagreeing, problems);
}

function notAgreeing(all: readonly Sums[], problems: readonly string[]): Failure {
  const code = 'response.malformed';
  const sums = all.map(({ what, expectedCents, gotCents }) => {
    const difference = usdText(gotCents - expectedCents);
    return `${what}: the API says ${usdText(expectedCents)}, its rows add up to ${usdText(gotCents)}, a difference of ${difference}.`;
  });
  const [first, ...others] = [...sums, ...problems];
  return new Failure(`The sums do not agree, so nothing was written. ${first ?? ''}`.trim(), {
    code,
    exitCode: LOCAL_FAILURES[code].exit,
    items: others.map((description) => ({ code, description, source: null })),
    hint: 'Run it again; if it persists, report it to the operator of the server.',
  });
}
