import { scheduleTemplateReasons } from '../../catalog/resources/scheduletemplatereasons.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class ScheduletemplatereasonsList extends listCommand(scheduleTemplateReasons) {
  static override summary = 'List schedule template reasons of a location';
  static override examples = [
    '<%= config.bin %> scheduletemplatereasons list --location 1000000000001',
    '<%= config.bin %> scheduletemplatereasons list --location 1000000000001 --fields id,reason --csv',
  ];
}
