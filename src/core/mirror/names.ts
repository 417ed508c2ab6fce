import type { Resource } from '../../catalog/define.ts';

/** The name of a column for a wire name: `firstName` is `first_name`, `current_benefitYear` is `current_benefit_year`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
}

/** One record of a kind, by its type name: `PatientInsurancePlanV1` is `patient_insurance_plan`. */
export function singularOf(type: string): string {
  return snakeCase(type.replace(/V\d+$/, ''));
}

/** The table of a resource (D52): `transactiontags` is `transaction_tags`. */
export function tableNameOf({ type }: Pick<Resource, 'type'>): string {
  return singularOf(type).replace(/y$/, 'ie').concat('s');
}

/** The name of one entry of a list: `phones` has a `phone`, `responsibilities` a `responsibility`. */
export function entryName(field: string): string {
  return snakeCase(field).replace(/ies$/, 'y').replace(/s$/, '');
}

/** An identifier of SQL in quotes. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
