import { describe, expect, it } from 'vitest';
import { CircuitBreaker, notTried } from '../../src/core/circuitbreaker.ts';
import { Failure, fileFailure, localFailure } from '../../src/core/failure.ts';
import { ApiFailure } from '../../src/core/transport/apifailure.ts';

const system = (code: string) => fileFailure('write x', Object.assign(new Error(code), { code }));
const dead = localFailure('network.unreachable', 'Nothing answers.');
const exists = localFailure('local.file', 'x exists already.');
const missing = new ApiFailure(404, [], null);

describe('a run over many items', () => {
  it.each<[string, (Failure | undefined)[], boolean]>([
    ['the token is not accepted', [new ApiFailure(401, [], null)], true],
    ['nothing is allowed', [undefined, new ApiFailure(403, [], null)], true],
    ['the disk is full', [system('ENOSPC')], true],
    ['nothing answers', [dead, dead, dead], true],
    ['nothing can be written', [system('EACCES'), system('EACCES'), system('EACCES')], true],
    ['something answers in between', [dead, dead, missing, dead, dead, undefined, dead, dead], false],
    ['files exist', [exists, exists, exists, exists], false],
    ['records are missing', [missing, missing, missing, missing], false],
    ['a link is refused', [new Failure('Refused.', { code: 'file.signature', exitCode: 3 })], false],
  ])('stops or goes on when %s', (_, ends, stops) => {
    const breaker = new CircuitBreaker();
    for (const end of ends) breaker.record(end);
    expect(breaker.cause !== undefined).toBe(stops);
  });

  it('says of the rest why it was not tried', () => {
    expect(notTried(dead)).toMatchObject({
      code: 'network.unreachable',
      exitCode: 8,
      message: 'Not tried: Nothing answers.',
    });
  });
});
