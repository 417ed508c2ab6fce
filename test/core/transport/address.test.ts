import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../../src/core/transport/address.ts';

describe('isLoopback', () => {
  it.each(['localhost', 'LOCALHOST', 'api.localhost', '127.0.0.1', '127.9.8.7', '::1', '[::1]'])('%s is', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['example.com', 'localhost.example.com', '127.0.0.1.example.com', '10.0.0.1', '0.0.0.0', '::', '128.0.0.1'])(
    '%s is not',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});
