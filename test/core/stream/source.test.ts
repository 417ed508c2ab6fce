import { describe, expect, it } from 'vitest';
import { readMessage } from '../../../src/core/stream/source.ts';
import { messageOf } from './messages.ts';

const whole = messageOf(12);

describe('readMessage', () => {
  it('gives the message and the text as it came', () => {
    const text = JSON.stringify({ ...whole, extra: 1 }).replace(',', ' , ');
    expect(readMessage(text)).toEqual({ message: { ...whole, extra: 1 }, text });
    expect(readMessage(JSON.stringify({ ...whole, correlationId: 'c-1' }))?.message.correlationId).toBe('c-1');
    // Of an organization that had no message yet.
    expect(readMessage(JSON.stringify({ ...whole, id: 0 }))?.message.id).toBe(0);
  });

  it('puts a message of several lines on one', () => {
    expect(readMessage(JSON.stringify(whole, null, 2))?.text).toBe(JSON.stringify(whole));
  });

  it('takes a message without correlation id', () => {
    const { correlationId: _, ...rest } = whole;
    expect(readMessage(JSON.stringify(rest))?.message).toEqual(whole);
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['id as text', JSON.stringify({ ...whole, id: '12' })],
    ['inexact id', JSON.stringify({ ...whole, id: 2 ** 53 })],
    ['negative id', JSON.stringify({ ...whole, id: -1 })],
    ['no routing key', JSON.stringify({ ...whole, routingKey: undefined })],
    ['no operation', JSON.stringify({ ...whole, operation: null })],
    ['payload that is no object', JSON.stringify({ ...whole, payload: [1] })],
    ['correlation id that is no text', JSON.stringify({ ...whole, correlationId: 5 })],
  ])('refuses %s', (_name, text) => {
    expect(readMessage(text)).toBeUndefined();
  });
});
