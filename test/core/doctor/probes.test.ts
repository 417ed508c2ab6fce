import { describe, expect, it } from 'vitest';
import { probeScopes } from '../../../src/core/doctor/probes.ts';
import { answer, clientOf, problem, Script, type Step, success } from '../transport/script.ts';

const NOW = Date.UTC(2026, 2, 2, 12);
const probe = (script: Script) => probeScopes(clientOf(script), new AbortController().signal, NOW);
const bare = (status: number) => answer(status, { data: null, warnings: [], errors: [] });

describe('the scopes of a token', () => {
  it('are tried by requests that the specification allows', async () => {
    const script = new Script(success([]), success([]));
    await probe(script);
    expect(script.requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
      'GET /api/v1/transactiontags',
      'GET /api/v1/locationproductionnetschedule',
    ]);
    expect(script.queries).toEqual([
      { filter: 'tagType==PAYMENT_TAG', pageSize: '1' },
      { filter: 'fromDate==2026-03-02,location.id==ALL' },
    ]);
  });

  it.each<[string, readonly Step[], readonly boolean[]]>([
    ['both answer', [success([]), success([])], [true, true]],
    ['the report has no data', [success([]), bare(404)], [true, true]],
    ['the report is refused', [success([]), bare(403)], [true, false]],
    ['all but the report is refused', [bare(403), bare(404)], [false, true]],
    [
      'a service says that it is the scopes',
      [problem(403, 'auth.scope_missing', null, 'No.'), problem(403, 'auth.scope_missing', null, 'No.')],
      [false, false],
    ],
  ])('are known when %s', async (_name, steps, allowed) => {
    expect((await probe(new Script(...steps))).map((probed) => probed.allowed)).toEqual(allowed);
  });

  it.each<[string, readonly Step[], number]>([
    ['both are refused without a word', [bare(403), bare(403)], 403],
    ['the organization is refused', [problem(403, 'auth.organization_forbidden', null, 'No.')], 403],
    ['the token is not accepted', [bare(401)], 401],
    ['the address is another', [answer(404, '<html>')], 404],
    ['the report is refused as wrong', [success([]), bare(400)], 400],
  ])('are not, when %s', async (_name, steps, status) => {
    const script = new Script(...steps);
    await expect(probe(script)).rejects.toMatchObject({ status });
    expect(script.left).toBe(0);
  });
});
