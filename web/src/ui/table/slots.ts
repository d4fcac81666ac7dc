export type SlottedRow = { id: string; index: number; slot: number };

/**
 * Slots give each row in the page the number of an element, which it keeps as long as it stays. The number of a row
 * that has left goes to the next one that comes, so that its element shows that one.
 */
export class Slots {
	private slots = new Map<string, number>();
	private order: number[] = [];

	/**
	 * assign returns the rows that are shown with their numbers, in the order of their elements. While the table moves
	 * these stay where they are, because moving an element costs as much as making it; then they are in the order of the rows.
	 */
	assign(shown: string[], moving: boolean): SlottedRow[] {
		const taken = new Map<number, SlottedRow>();
		const arrived: { id: string; index: number }[] = [];
		for (const [index, id] of shown.entries()) {
			const slot = this.slots.get(id);
			if (slot === undefined) arrived.push({ id, index });
			else taken.set(slot, { id, index, slot });
		}
		const free = this.order.filter((slot) => !taken.has(slot));
		let unused = Math.max(-1, ...this.order) + 1;
		for (const row of arrived) {
			const slot = free.shift() ?? unused++;
			taken.set(slot, { ...row, slot });
			if (!this.order.includes(slot)) this.order.push(slot);
		}
		const rows = moving
			? this.order.flatMap((slot) => taken.get(slot) ?? [])
			: [...taken.values()].sort((a, b) => a.index - b.index);
		this.order = rows.map((row) => row.slot);
		this.slots = new Map(rows.map((row) => [row.id, row.slot]));
		return rows;
	}
}
