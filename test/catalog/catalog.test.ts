import { describe, expect, it } from 'vitest';
import { allOperations, operationOf, pathOf, RESOURCES } from '../../src/catalog/catalog.ts';
import { OPERATOR_MEANINGS, OPERATORS, VALUE_OPERATORS } from '../../src/catalog/operators.ts';
import { emittedFields } from '../../src/catalog/record.ts';
import { documents } from '../../src/catalog/resources/documents.ts';
import { patients } from '../../src/catalog/resources/patients.ts';
import { SCOPES } from '../../src/catalog/scopes.ts';

describe('the catalog', () => {
  it('has each name, type and operation once', () => {
    const ids = allOperations().map(({ operation }) => operation.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(RESOURCES.map((resource) => resource.name)).size).toBe(RESOURCES.length);
    expect(new Set(RESOURCES.map((resource) => resource.type)).size).toBe(RESOURCES.length);
  });

  it('names operations by resource and verb', () => {
    expect(operationOf(patients, 'list').id).toBe('patients.list');
    expect(() => operationOf(patients, 'delete')).toThrow('patients has no operation delete');
  });

  it('fills paths in', () => {
    expect(pathOf(operationOf(documents, 'list'))).toBe('/api/v1/documents');
    expect(pathOf(operationOf(documents, 'get'), 7_000_000_000_114)).toBe('/api/v1/documents/7000000000114');
    expect(pathOf(operationOf(patients, 'billingtypesSet'), '5')).toBe('/api/v1/patients/5/billingtypes');
    expect(pathOf(operationOf(documents, 'get'), '../x?')).toBe('/api/v1/documents/..%2Fx%3F');
  });

  describe.each(RESOURCES.map((resource) => [resource.name, resource] as const))('%s', (_name, resource) => {
    it('shows columns that exist', () => {
      const links = emittedFields(resource.fields).flatMap((name) =>
        (resource.fields[name]?.kind.parts ?? []).map((part) => `${name}.${part}`),
      );
      expect([...emittedFields(resource.fields), ...links]).toEqual(expect.arrayContaining([...resource.tableColumns]));
    });

    it('gives each flag to one filter key', () => {
      const keysOf: Record<string, string[]> = {};
      for (const { key, shortcuts } of Object.values(resource.filters)) {
        for (const flag of new Set(shortcuts.map((shortcut) => shortcut.flag)))
          keysOf[flag] = [...(keysOf[flag] ?? []), key];
      }
      expect(Object.entries(keysOf).filter(([, keys]) => keys.length > 1)).toEqual([]);
    });

    it('has flags that stand for operators of their key', () => {
      for (const key of Object.values(resource.filters)) {
        for (const shortcut of key.shortcuts) expect(key.operators).toContain(shortcut.operator);
      }
    });

    it('says something of every field and key', () => {
      for (const { about } of [...Object.values(resource.fields), ...Object.values(resource.filters)]) {
        expect(about).toMatch(/^[A-Z\d]/);
      }
    });

    it('asks for scopes that exist', () => {
      for (const operation of Object.values(resource.operations)) expect(SCOPES).toContain(operation.scope);
    });
  });
});

describe('operators', () => {
  it('are those of the specification', () => {
    expect([...OPERATORS].sort()).toEqual(
      ['==', '!=', '~=', '<>=', '->', '>', '>=', '<', '<=', '.absent', '.present'].sort(),
    );
    expect(Object.keys(OPERATOR_MEANINGS).sort()).toEqual([...OPERATORS].sort());
  });

  it('come before every operator that they begin with (D10)', () => {
    for (const [at, operator] of VALUE_OPERATORS.entries()) {
      const earlier = VALUE_OPERATORS.slice(0, at);
      expect(earlier.filter((other) => operator.startsWith(other))).toEqual([]);
    }
  });
});
