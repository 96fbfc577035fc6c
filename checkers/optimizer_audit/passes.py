def audit_pass(*a): raise NotImplementedError
