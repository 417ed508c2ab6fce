import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENTS, formatFor, LINES } from '../../../src/server/stream/pages.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { address, open } from './listening.ts';
import { ownMessages } from './told.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords(), { listeners: { heartbeatMs: 200 } });
});
afterEach(() => service.close());

describe('the stream as lines (D42)', () => {
  it('has nothing but messages, and an empty line when there is silence', async () => {
    const url = await address(service);
    const request = open(url, { headers: { accept: 'application/x-ndjson' }, query: '?lastEventId=0' });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.headers['content-type']).toBe('application/x-ndjson');
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk;
      if (text.endsWith('\n\n')) break;
    }
    request.destroy();
    const wanted = await ownMessages(service);
    expect(wanted.length).toBeGreaterThan(2);
    const lines = text.slice(0, -2).split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(wanted);
  });
});

it('why a stream ends is a comment where there are comments', () => {
  expect([EVENTS.ending('over'), LINES.ending('over')]).toEqual([': over\n\n', '']);
});

describe('an Accept header', () => {
  it.each([
    [undefined, EVENTS],
    ['', EVENTS],
    ['*/*', EVENTS],
    ['text/event-stream', EVENTS],
    ['application/json', EVENTS],
    ['application/x-ndjson', LINES],
    ['application/X-NDJSON;q=1, */*', LINES],
    ['text/event-stream, application/x-ndjson', EVENTS],
    ['text/html, application/x-ndjson , text/event-stream', LINES],
  ])('%j takes its form', (accept, format) => {
    expect(formatFor(accept)).toBe(format);
  });
});
