import { patientInsurancePlans } from '../../catalog/resources/patientinsuranceplans.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class PatientinsuranceplansGet extends getCommand(patientInsurancePlans, 2100000000001) {}
