import { collectionsReport } from '../../cli/office/collectionsreport.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsCollections extends reportCommand(collectionsReport) {
  static override examples = [
    '<%= config.bin %> reports collections',
    '<%= config.bin %> reports collections --over 60 --location 1000000000001 --out collections.html',
    '<%= config.bin %> reports collections --sort -balanceCents --limit 20 --fields patient,phones,balanceCents,overdueCents --csv',
  ];
}
