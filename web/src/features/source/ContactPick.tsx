import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Combo } from "../../ui/Combo";
import { useDebounced } from "../../ui/useDebounced";
import { contactQuery, foundContactsQuery } from "../contacts/queries";

type Props = { label: string; value: string | null; onChange: (id: string | null) => void; help?: string };

/** ContactPick chooses one contact by name or address. */
export function ContactPick({ label, value, onChange, help }: Props) {
	const [search, setSearch] = useState("");
	const debounced = useDebounced(search.trim(), 200);
	const [wasOpened, setWasOpened] = useState(false);
	const query = useQuery({ ...foundContactsQuery(debounced), enabled: wasOpened });
	const selected = useQuery({ ...contactQuery(value ?? ""), enabled: value !== null });
	const rows = [...(query.data?.data ?? [])];
	if (selected.data && !rows.some((contact) => contact.id === value)) rows.unshift(selected.data);
	const options = rows.map((contact) => ({
		id: contact.id,
		label: [contact.first_name, contact.last_name].filter(Boolean).join(" ") || contact.email || contact.id,
		detail: contact.email ?? undefined,
	}));
	return (
		<Combo
			label={label}
			help={help}
			options={options}
			value={value}
			onChange={onChange}
			onSearch={setSearch}
			onOpen={() => setWasOpened(true)}
			loading={query.isPending}
		/>
	);
}
