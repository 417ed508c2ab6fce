import { transactions } from '../../catalog/resources/transactions.ts';
import { countCommand } from '../../cli/crud/readcommands.ts';

export default class TransactionsCount extends countCommand(transactions) {
  static override examples = [
    '<%= config.bin %> transactions count --location 1000000000001',
    '<%= config.bin %> transactions count --from 2026-01-01 --ledger-type InsurancePayment',
  ];
}
