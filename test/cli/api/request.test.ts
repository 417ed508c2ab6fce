import { describe, expect, it } from 'vitest';
import { nearestPath, withNearestPath } from '../../../src/cli/api/request.ts';
import { ApiFailure } from '../../../src/core/transport/apifailure.ts';

describe('nearestPath', () => {
  it.each([
    ['/api/v1/patient', 'patients'],
    ['/api/v1/Patients', 'patients'],
    ['/api/v1/patient/1001', 'patients/1001'],
    ['/api/v1/patients/1001/billingtype', 'patients/1001/billingtypes'],
    ['/api/v1/transactions/totalcont', 'transactions/totalcount'],
    ['/api/v1/appointment/async', 'appointments/async'],
    ['/api/v1/weather', undefined],
    ['/api/v1/patient/1001/2/3', undefined],
  ])('%s: %s', (path, near) => {
    expect(nearestPath(path)).toBe(near);
  });
});

describe('withNearestPath', () => {
  const refused = (code: string) => new ApiFailure(404, [{ code, description: 'Not there.', source: null }], 'req-1');

  it('says which path was meant, and keeps what else is known', () => {
    const cause = refused('route.unknown');
    expect(withNearestPath(cause, '/api/v1/patient')).toMatchObject({
      message: cause.message,
      hint: 'Did you mean patients?',
      requestId: 'req-1',
      exitCode: 4,
      status: 404,
    });
  });

  it('does so where a service says nothing but 404', () => {
    const bare = new ApiFailure(404, [], null);
    expect(withNearestPath(bare, '/api/v1/patient')).toMatchObject({ hint: 'Did you mean patients?', status: 404 });
    for (const path of ['/api/v1/patients', '/api/v1/patients/1001', '/api/v1/patients/1001?x=y'])
      expect(withNearestPath(bare, path)).toBe(bare);
  });

  it('leaves what it knows nothing about as it is', () => {
    for (const cause of [refused('record.not_found'), new Error('x')]) {
      expect(withNearestPath(cause, '/api/v1/patient')).toBe(cause);
    }
    const far = refused('route.unknown');
    expect(withNearestPath(far, '/api/v1/weather')).toBe(far);
  });
});
