import { expect, it } from 'vitest';
import { RequestTimes } from '../../../src/server/metrics/requesttimes.ts';

it('is the text of a counter and a histogram, a series for each method, route and status', () => {
  const times = new RequestTimes();
  const one = { method: 'GET', route: '/api/v1/patients/:id', status: 200 } as const;
  // On a bound, between two, and beyond the last one.
  for (const seconds of [0.002, 0.25, 64]) times.record({ ...one, seconds });
  times.record({ method: 'POST', route: 'unknown', status: 'aborted', seconds: 0.5 });
  const labels = 'method="GET",route="/api/v1/patients/:id",status="200"';
  const fitting: Record<string, number> = { 0.002: 1, 0.005: 1, 0.01: 1, 0.025: 1, 0.05: 1, 0.1: 1, 0.25: 2, 0.5: 2 };
  for (const bound of ['1', '2.5', '5', '10', '60']) fitting[bound] = 2;
  const lines = times.text().split('\n');
  expect(lines.filter((line) => line.startsWith('molar_http_requests_total'))).toEqual([
    `molar_http_requests_total{${labels}} 3`,
    'molar_http_requests_total{method="POST",route="unknown",status="aborted"} 1',
  ]);
  const buckets = lines.filter((line) => line.startsWith('molar_http_request_duration_seconds_bucket'));
  const bounds = ['0.002', '0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '60'];
  expect(buckets.filter((line) => line.includes(labels))).toEqual([
    ...bounds.map((bound) => `molar_http_request_duration_seconds_bucket{le="${bound}",${labels}} ${fitting[bound]}`),
    `molar_http_request_duration_seconds_bucket{le="+Inf",${labels}} 3`,
  ]);
  expect(lines).toContain(`molar_http_request_duration_seconds_sum{${labels}} 64.252`);
  expect(lines).toContain(`molar_http_request_duration_seconds_count{${labels}} 3`);
  expect(lines.at(-1)).toBe('');
});
