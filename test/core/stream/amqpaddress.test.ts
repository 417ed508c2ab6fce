import { describe, expect, it } from 'vitest';
import { readBroker } from '../../../src/core/stream/amqpaddress.ts';

const read = (text: string, password?: string, allowHttp = false) => readBroker(text, { allowHttp, password });

describe('the address of a broker', () => {
  it.each([
    ['amqp://127.0.0.1', undefined, 'amqp://127.0.0.1?heartbeat=20', '127.0.0.1', undefined],
    [
      'amqps://u:p@b.example.com:5671/vh',
      'env',
      'amqps://u:p@b.example.com:5671/vh?heartbeat=20',
      'b.example.com:5671/vh',
      undefined,
    ],
    [
      'amqps://u@b.example.com/',
      'p:/@',
      'amqps://u:p%3A%2F%40@b.example.com/?heartbeat=20',
      'b.example.com',
      undefined,
    ],
    ['amqps://b.example.com', 'p', 'amqps://b.example.com?heartbeat=20', 'b.example.com', undefined],
    ['amqp://localhost?heartbeat=5&exchange=x', undefined, 'amqp://localhost?heartbeat=5', 'localhost', 'x'],
  ])('%s', (text, password, url, shown, exchange) => {
    expect(read(text, password)).toEqual({ url, shown, exchange });
  });

  it.each([
    ...['localhost', 'http://localhost', 'amqp://', 'amqp:hidden'].map((text) => [text, 'must be the address']),
    ['amqp://user@broker.example.com/', 'the password and patient data'],
  ])('may not be %s', (text, message) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringMatching(`--amqp .*${message}`),
        items: [expect.objectContaining({ source: '--amqp' })],
      }),
    );
  });

  it('is not plain to another machine, and never repeated', () => {
    const text = 'amqp://user:hidden@broker.example.com/';
    expect(() => read(text)).toThrow('plain amqp://');
    expect(() => read(text)).not.toThrow('hidden');
    expect(read(text, undefined, true).shown).toBe('broker.example.com');
  });
});
