import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Picks } from "../../ui/Combo";
import type { Contact } from "../../api/schema";
import { foundContactsQuery } from "../contacts/queries";

const nameOf = (contact: Contact) => contact.full_name || contact.email;

/** Picked is a contact that was chosen. */
export type Picked = { id: string; label: string; detail?: string };

/** ContactPicks chooses contacts, which are found by name or address. */
export function ContactPicks({
	label,
	selected,
	onChange,
}: {
	label: string;
	selected: Picked[];
	onChange: (selected: Picked[]) => void;
}) {
	const [search, setSearch] = useState("");
	const query = useQuery(foundContactsQuery(search.trim()));
	const options: Picked[] = [
		...selected,
		...(query.data?.data ?? [])
			.filter((contact) => !selected.some((option) => option.id === contact.id))
			.map((contact) => ({
				id: contact.id,
				label: nameOf(contact),
				detail: nameOf(contact) === contact.email ? undefined : contact.email,
			})),
	];
	return (
		<Picks
			autoFocus
			label={label}
			options={options}
			values={selected.map((option) => option.id)}
			onSearch={setSearch}
			onChange={(ids) => onChange(ids.flatMap((id) => options.find((option) => option.id === id) ?? []))}
		/>
	);
}
