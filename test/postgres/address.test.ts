import { describe, expect, it } from 'vitest';
import { readAddress } from '../../src/postgres/address.ts';
import { PostgresUnusable } from '../../src/postgres/unusable.ts';

describe('readAddress', () => {
  it.each([
    ['postgres://u:p@db.example:6432/molar', { name: 'db.example:6432/molar', readers: 8, writers: 4, sessions: true }],
    ['postgresql://db/x?readers=2&writers=1&prepare=off', { name: 'db/x', readers: 2, writers: 1, sessions: false }],
    ['postgres:///x?host=/var/run/postgresql', { name: '/var/run/postgresql/x', sessions: true }],
  ])('%s', (address, expected) => {
    expect(readAddress(address)).toMatchObject(expected);
  });

  it('keeps its own parameters from the driver, and all others for it', () => {
    const { url } = readAddress('postgres://u:p%40x@db/x?readers=2&sslmode=require&prepare=off&options=-c%20a%3Db');
    expect(url).toBe('postgres://u:p%40x@db/x?options=-c%20a%3Db&application_name=molar');
  });

  const verified = {};
  const unverified = { rejectUnauthorized: false };
  it.each([
    ['postgres://localhost/x', {}, false],
    ['postgres://[::1]/x', {}, false],
    ['postgres:///x', {}, false],
    ['postgres:///x?host=/var/run/postgresql', { PGSSLMODE: 'verify-full' }, false],
    ['postgres://db/x', {}, verified],
    ['postgres:///x', { PGHOST: 'db' }, verified],
    ['postgres://localhost/x?host=db', {}, verified],
    ['postgres://db/x', { PGSSLMODE: 'prefer' }, verified],
    ['postgres://db/x?sslmode=allow', {}, verified],
    ['postgres://db/x?sslmode=require', {}, unverified],
    ['postgres://db/x', { PGSSLMODE: 'require' }, unverified],
    ['postgres://db/x?sslmode=verify-full', { PGSSLMODE: 'disable' }, verified],
    ['postgres://db/x?sslmode=verify-full&sslrootcert=system', {}, verified],
    ['postgres://localhost/x?sslmode=verify-full', {}, verified],
    ['postgres://db/x?sslmode=disable', {}, false],
  ])('%s with %j is encrypted: %j', (address, env, tls) => {
    expect(readAddress(address, env).tls).toEqual(tls);
  });

  it.each([
    'postgres://u:geheim@db/x?sslmode=maybe',
    'postgres://u:geheim@db/x?sslmode=verify-ca',
    'postgres://u:geheim@db/x?ssl=0',
    'postgres://u:geheim@db/x?sslrootcert=/nowhere/at/all.pem',
  ])('refuses %s', (address) => {
    expect(() => readAddress(address, {})).toThrow(PostgresUnusable);
  });

  it.each([
    'mysql://u:geheim@db/x',
    'postgres//u:geheim@db',
    'postgres://u:geheim@db/x?readers=0',
    'postgres://u:geheim@db/x?writers=1000',
    'postgres://u:geheim@db/x?prepare=maybe',
  ])('refuses %s without repeating its password', (address) => {
    expect(() => readAddress(address)).toThrow(PostgresUnusable);
    expect(() => readAddress(address)).not.toThrow('geheim');
  });
});
